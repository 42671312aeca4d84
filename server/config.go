package server

import (
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/llm"
)

// Config is how a server works. Only Engine is required.
type Config struct {
	// Engine is what the server serves. The server does not close it.
	Engine *turnstone.Engine
	// Guard says who calls. Defaults to nobody: everybody on this machine has all scopes of the engine's own tenant, and
	// nobody else is let in.
	Guard Guard
	// Front answers clients of model APIs: everything under /api/ that is not ours, /v1/ and the root. Defaults to none.
	Front http.Handler
	// Refuse answers a client of Front that may not come in, in the words of the API that it speaks. Defaults to a
	// [Problem].
	Refuse func(w http.ResponseWriter, r *http.Request, status int, detail string)
	// MCP answers under /mcp. Defaults to none.
	MCP http.Handler
	// Open are more handlers by their patterns, such as "GET /healthz". They are open to everybody who reaches the
	// server; without a Guard under a name of this machine only, see [Local].
	Open map[string]http.Handler
	// Observe is wrapped around everything. What it hands on has a [Record] in its context, which is whole when the
	// inner handler returns. Defaults to nothing.
	Observe func(http.Handler) http.Handler
	// Model makes the client of the model of that name, for what is said to a session that has one. Defaults to the
	// engine's own model for everything.
	Model func(name string) llm.Model
	// ModelName is the model that answers where neither a request nor its session names one. Defaults to none.
	ModelName string
	// Ending is called once, when Serve is to end, with how many requests are under way. Defaults to nothing.
	Ending func(underWay int)
	// EndIdle is how often [Server.Serve] ends sessions that have rested for the engine's time, of all tenants. Defaults to
	// 5 minutes.
	EndIdle time.Duration
	// TrustedProxies are the networks of load balancers, whose X-Forwarded-For says whom a request comes from. Defaults to
	// nobody: it comes from whoever sent it.
	TrustedProxies []netip.Prefix
	// Origins are whose pages in a browser may ask from elsewhere, such as https://chat.example; [AnyOrigin] for all of them,
	// with a Guard only. Defaults to none.
	Origins []string
	// Limits bound what a client may send and how long it may take.
	Limits Limits
	// Version is what the OpenAPI document calls this version. Defaults to "devel".
	Version string
	// Log is told what clients are not: internal errors. Defaults to nowhere.
	Log slog.Handler
}

// Limits bound what a client may send and how long it may take. Zero fields have their defaults.
type Limits struct {
	// Body is how many bytes of JSON a request may have. Defaults to 1 MiB.
	Body int64
	// Turns is how many bytes a request may have that appends turns, images included. Defaults to 64 MiB.
	Turns int64
	// Bundle is how many bytes a bundle or a conversation may have that is imported. Defaults to 1 GiB.
	Bundle int64
	// ImportTurns is how many turns a bundle or a conversation may have that is imported. Defaults to 100,000.
	ImportTurns int64
	// Bodies is how many bytes the bodies of all requests under way may have together, bundles apart, which are not kept in
	// memory. What is one too many is refused until there is room again. Defaults to 512 MiB, or twice Turns if that is
	// more.
	Bodies int64
	// Read is how long a client may take to send what it asks, a bundle apart. Defaults to 30 seconds.
	Read time.Duration
	// Write is how long a client may take no byte of an answer. Defaults to 30 seconds.
	Write time.Duration
	// Answer is how long a request may take to be answered once it is here. A commit, a compression, a prompt, the end of
	// a session, forgetting and what is exported may take ten times as long; exchanges, bundles that are imported and
	// streams that have begun are not bounded. Defaults to 30 seconds.
	Answer time.Duration
	// Idle is how long a connection is kept that asks nothing. Defaults to 2 minutes.
	Idle time.Duration
	// Rate is how many requests a second each key may make, and Burst how many at once. Default to no limit and to
	// twice the rate.
	Rate  float64
	Burst int
	// Strangers is how many keys a second that nobody knows are looked at from one address, and ten times as many at once.
	// Defaults to 10.
	Strangers float64
	// Drain is how long [Server.Serve] goes on as before when it is to end, so that whoever sends requests here has time
	// to learn of it. Defaults to not at all.
	Drain time.Duration
	// Grace is how long [Server.Serve] waits for requests under way when it is to end. Defaults to 30 seconds.
	Grace time.Duration
}

func (c Config) withDefaults() (Config, error) {
	if c.Engine == nil {
		return c, invalid.New("engine", "is missing", "open one")
	}
	for _, size := range []struct {
		name     string
		value    *int64
		standard int64
	}{
		{"end idle", (*int64)(&c.EndIdle), int64(5 * time.Minute)},
		{"limits.body", &c.Limits.Body, 1 << 20},
		{"limits.turns", &c.Limits.Turns, 64 << 20},
		{"limits.bundle", &c.Limits.Bundle, 1 << 30},
		{"limits.import turns", &c.Limits.ImportTurns, 100_000},
		{"limits.bodies", &c.Limits.Bodies, max(512<<20, 2*c.Limits.Turns)},
		{"limits.read", (*int64)(&c.Limits.Read), int64(30 * time.Second)},
		{"limits.write", (*int64)(&c.Limits.Write), int64(30 * time.Second)},
		{"limits.answer", (*int64)(&c.Limits.Answer), int64(30 * time.Second)},
		{"limits.idle", (*int64)(&c.Limits.Idle), int64(2 * time.Minute)},
		{"limits.drain", (*int64)(&c.Limits.Drain), 0},
		{"limits.grace", (*int64)(&c.Limits.Grace), int64(30 * time.Second)},
	} {
		if *size.value < 0 {
			return c, invalid.New(size.name, "is negative", "give at least 1, or 0 for the default")
		}
		if *size.value == 0 {
			*size.value = size.standard
		}
	}
	if c.Limits.Bodies < max(c.Limits.Body, c.Limits.Turns) {
		return c, invalid.New("limits.bodies", "is less than one body may have", "give at least as much as limits.body and limits.turns")
	}
	if c.Limits.Strangers == 0 {
		c.Limits.Strangers = 10
	}
	if c.Limits.Strangers < 0 {
		return c, invalid.New("limits.strangers", "is negative", "give more, or 0 for the default")
	}
	if c.Limits.Rate < 0 || c.Limits.Burst < 0 {
		return c, invalid.New("limits.rate", "is negative, or its burst is", "give more, or 0 for the default")
	}
	if c.Limits.Burst == 0 {
		c.Limits.Burst = max(1, int(2*c.Limits.Rate))
	}
	if c.Version == "" {
		c.Version = "devel"
	}
	if c.Log == nil {
		c.Log = slog.DiscardHandler
	}
	return c, nil
}
