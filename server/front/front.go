// Package front is Turnstone in the place of a model server: clients that speak to Ollama or OpenAI are pointed at it
// unchanged, and their conversations become endless.
//
// Such clients keep no session. They send all that was said with each call, more of it every time, until the model's
// window is full. A front finds the session that a call goes on, by the header Turnstone-Session or by the hash chain of
// the messages it repeats, appends what is new, sends the upstream server a prompt that fits, and hands on the reply as it
// comes. A history that was known and then changed becomes a fork; one without a reply of ours is a new session. The
// tools and system messages of a call are the client's: tools are run by it, and system messages are part of the call,
// not of the conversation.
//
// Both fronts work with either kind of upstream server. Where the client and the server speak the same way the reply
// passes byte by byte. The end of a reply is held back until the exchange is on disk, so that the next call finds it.
package front

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/llm"
)

// SessionHeader names the session that a call goes on, and in every answer the one that it went on.
const SessionHeader = "Turnstone-Session"

// WarningHeader says, in an answer, what the client may not expect: that the context it goes on from is not known here, and a
// new session begins.
const WarningHeader = "Turnstone-Warning"

// Kind is what a server speaks.
type Kind string

// The kinds.
const (
	Ollama Kind = "ollama"
	OpenAI Kind = "openai"
)

// Upstream is the model server behind the fronts.
type Upstream struct {
	// URL is the server's address for [Ollama], and what stands before /chat/completions for [OpenAI].
	URL string
	// Kind is what the server speaks. Defaults to [Ollama].
	Kind Kind
	// Key is sent as a bearer token. Defaults to what the client sends, unless that is a key of Turnstone's own.
	Key string
	// HTTP sends the requests. Defaults to a client without a timeout that keeps as many connections as are in use.
	HTTP *http.Client
}

// Limits bound what clients and the upstream server may take. Those that are not set have the defaults.
type Limits struct {
	// Body is how many bytes a call may have. Defaults to 64 MiB.
	Body int64
	// Read is how long a client may take to send a call. Defaults to 1 minute.
	Read time.Duration
	// First is how long the upstream server may take before it answers. Defaults to 15 minutes.
	First time.Duration
	// Idle is how long nothing may come in the middle of an answer, and how long a client may take to read a piece of
	// it. Defaults to 2 minutes; for an answer that may call tools, [llm.Limits] says why, to First.
	Idle time.Duration
	// Line is how many bytes a line of an answer may have, and an answer that is not streamed. Defaults to 16 MiB.
	Line int
	// Known is how many calls are remembered, so that what the next ones repeat need not be read again. Each takes
	// about 300 bytes, besides the messages of the system among the others, which take 64 MiB in all at most. Defaults to
	// 16,384.
	Known int
}

// Config is how the fronts work.
type Config struct {
	// Engine returns the engine of who calls. It is required. Its error is answered with 401; who can say more answers by
	// itself, with [Refuse].
	Engine func(*http.Request) (*turnstone.Engine, error)
	// Upstream is the model server. It is required.
	Upstream Upstream
	// RecordOnly passes calls and answers on untouched and only keeps the log.
	RecordOnly bool
	// Recall is what calls recall by themselves, where a prompt is made. Defaults to nothing.
	Recall *turnstone.RecallOptions
	// Limits bound calls and answers.
	Limits Limits
	// Observe is told of every exchange with the model server, under the name of its model: it returns what the server is asked
	// with, what is told the first piece, the end or the error of its answer, and what is called when that is over.
	// Defaults to nobody.
	Observe func(ctx context.Context, model string, r llm.Request) (asked context.Context, heard func(llm.Chunk, error), end func())
	// Log is told what went wrong without an answer that says so. Defaults to nowhere.
	Log slog.Handler
}

// Front serves the model APIs. It is safe for concurrent use.
type Front struct {
	config   Config
	log      *slog.Logger
	upstream *upstream
	known    *known
	fitting  *fitting
	endings  endings
}

// New returns the fronts of an upstream server, to which nothing is sent yet. A *invalid.Field names what is wrong with the
// configuration.
func New(c Config) (*Front, error) {
	if c.Engine == nil {
		return nil, invalid.New("Engine", "is missing", "say whose sessions a request is about")
	}
	if c.Upstream.Kind == "" {
		c.Upstream.Kind = Ollama
	}
	if c.Upstream.Kind != Ollama && c.Upstream.Kind != OpenAI {
		return nil, invalid.New("Upstream.Kind", "is none that is known", "use ollama or openai")
	}
	base, err := url.Parse(strings.TrimSpace(c.Upstream.URL))
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, invalid.New("Upstream.URL", "is no address of a server", "give a URL such as http://127.0.0.1:11434")
	}
	if c.Upstream.HTTP == nil {
		c.Upstream.HTTP = newClient()
	}
	if c.Observe == nil {
		c.Observe = unobserved
	}
	c.Limits = c.Limits.withDefaults()
	f := &Front{config: c, log: bus.Logger(c.Log), known: newKnown(c.Limits.Known), fitting: newFitting()}
	f.upstream = &upstream{config: c.Upstream, base: base, limits: c.Limits}
	return f, nil
}

func (l Limits) withDefaults() Limits {
	if l.Body <= 0 {
		l.Body = 64 << 20
	}
	if l.Read <= 0 {
		l.Read = time.Minute
	}
	if l.First <= 0 {
		l.First = 15 * time.Minute
	}
	if l.Line <= 0 {
		l.Line = 16 << 20
	}
	if l.Known <= 0 {
		l.Known = 16384
	}
	return l
}

// silence is how long nothing may come from somebody who has begun.
func (l *Limits) silence(tools bool) time.Duration {
	return llm.Limits{First: l.First, Idle: l.Idle}.Silence(tools)
}

// newClient keeps idle connections: with two for each host, which is the default, every stream but two would begin with
// a handshake.
func newClient() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 1024, 1024
	t.ReadBufferSize = 16 << 10 // pieces of streams are small, and many come at once
	t.DisableCompression = true
	return &http.Client{Transport: t}
}

// Handler returns what serves Ollama's routes under /api/ and OpenAI's under /v1/.
func (f *Front) Handler() http.Handler {
	mux := http.NewServeMux()
	route := func(method, path string, handle http.HandlerFunc) {
		mux.HandleFunc(method+" "+path, handle)
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Allow", allowed[method])
			Refuse(w, r, http.StatusMethodNotAllowed, r.URL.Path+" takes "+method)
		})
	}
	chat := func(path string, a api) {
		route(http.MethodPost, path, func(w http.ResponseWriter, r *http.Request) { f.converse(w, r, a) })
	}
	chat("/api/chat", ollamaChat)
	chat("/api/generate", ollamaGenerate)
	chat("/v1/chat/completions", openaiChat)
	pass := func(method string, a api, paths ...string) {
		for _, path := range paths {
			route(method, path, func(w http.ResponseWriter, r *http.Request) { f.pass(w, r, a) })
		}
	}
	pass(http.MethodGet, ollamaChat, "/api/tags", "/api/version", "/api/ps")
	pass(http.MethodPost, ollamaChat, "/api/show", "/api/embed", "/api/embeddings")
	pass(http.MethodGet, openaiChat, "/v1/models", "/v1/models/{model...}")
	pass(http.MethodPost, openaiChat, "/v1/embeddings")
	route(http.MethodGet, "/{$}", func(w http.ResponseWriter, _ *http.Request) {
		f.answer(w, "text/plain; charset=utf-8", http.StatusOK, []byte("Ollama is running")) // what clients look for
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		Refuse(w, r, http.StatusNotFound, "there is nothing at "+r.Method+" "+r.URL.Path)
	})
	return mux
}

// allowed are the methods of a route.
var allowed = map[string]string{http.MethodGet: "GET, HEAD", http.MethodPost: "POST"}
