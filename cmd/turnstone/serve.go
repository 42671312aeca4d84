package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	service "github.com/turnstone-dev/turnstone/server"
	"github.com/turnstone-dev/turnstone/server/front"
	"github.com/turnstone-dev/turnstone/server/observe"
	"github.com/turnstone-dev/turnstone/store"
)

const (
	envAddr     = "TURNSTONE_ADDR"
	defaultAddr = "127.0.0.1:7411"
)

type serveOptions struct {
	addr     string
	keys     bool
	bus      string
	stream   string // of the bus
	upstream upstreamFlags
	models   string
	ends     endOptions
	proxies  []string
	origins  []string
	limits   service.Limits
	turns    limits
	observe  observeFlags

	compression    compressionFlags
	modelSummaries bool
	context        int
	recall         bool
	embedModel     string
}

func (a *app) serveCommand() *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve everything over HTTP",
		Long: `Serve everything that the other commands do over HTTP, for any language and any client: an API under /api/v1, with
its documentation at /api/v1/docs and its OpenAPI document at /api/v1/openapi.json. It prints where, is ready then,
and ends in order when it is interrupted: requests under way are finished. Interrupted again it cuts them short, and what
came of them is kept.

It listens on this machine only, where nobody needs a key, and refuses requests under another host's name, and all
but GET and HEAD from pages of other origins in a browser, which keeps those answers from them; --cors-origin lets
those of an origin ask and read. On any other address, or with --keys, everybody must show a key of turnstone key;
without one it does not start.

Clients of Ollama and of OpenAI are pointed here in place of their server, unchanged, and their conversations become
endless: each call's history is matched to its session, only what is new is appended, and the model is sent a prompt
that fits. With --record-only prompts pass untouched, and only the log is kept; --recall is for what is said with say
alone then.

What is said with POST /api/v1/sessions/SESSION/say is answered by the session's model, or the one that --model names,
on the server that --url names: an Ollama, or with a URL that ends in /v1 one with OpenAI's API.

Turns that leave a prompt are summarised by rules, which cost nothing. With --model-summaries the model that the session's
prompts are for is asked on the model server, with the server's key; what it says is verified, and where it fails or nothing
can be taken of it, the rules do it.

A model on your machine is used with a context of 8,192 tokens at most, unless a call asks for more: with num_ctx of
Ollama's API, or context of ours. To have more in every call, give --context, which holds for all models, and of one that
has less means all that it has; or for one model a provider other than ollama in models.toml: all of the context that stands
there is used then; see turnstone models --help.

With --recall what left the prompt and answers what the user says is shown to the model again, marked as recalled: in what
is said with say, and in calls of clients of Ollama and OpenAI. With --embed-model, which the model server has too, what is
recalled is ranked by its meaning and not by its words alone.

Clients of the Model Context Protocol are served at /mcp. /metrics is for Prometheus, /healthz and /readyz say whether it
lives and whether it should be asked. Spans are sent to where OTEL_EXPORTER_OTLP_ENDPOINT says.

Several servers may share a store in PostgreSQL; give them a --bus, so that daemons are told by each of them. The store keeps
that its exports go there: what other commands commit waits for such a server, and one without --bus does not start on
the store, until one with --bus inside takes them back.`,
		Example: `  turnstone serve
  turnstone serve --addr 127.0.0.1:8080 --url http://127.0.0.1:11434
  turnstone serve --store postgres://localhost/turnstone --bus nats://localhost:4222`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := exclusive(cmd, "bundle-dir", "no-bundle"); err != nil {
				return err
			}
			if err := errors.Join(o.compression.check(), a.checkFollowUp(), addressee{context: o.context}.check(cmd)); err != nil {
				return err
			}
			return a.serve(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.addr, "addr", "", "`address` to listen on, port 0 for one that is free (default "+defaultAddr+")")
	flags.BoolVar(&o.keys, "keys", false, "ask for keys on this machine too")
	flags.StringSliceVar(&o.proxies, "trusted-proxy", nil, "`network` of load balancers whose X-Forwarded-For says who asks (default none)")
	flags.StringArrayVar(&o.origins, "cors-origin", nil, "`URL` of whose pages in a browser may ask from elsewhere, such as https://chat.example, * for all where keys are asked for; may be given again (default none)")
	flags.StringVar(&o.bus, "bus", "", "nats:// `URL` of the bus that brings exports to daemons, or "+busInside+" to take them back from it (default inside this process)")
	flags.StringVar(&o.stream, "bus-stream", "", "`name` of the stream on the bus; each deployment on a NATS needs its own (default TURNSTONE)")
	o.upstream.addFlags(cmd)
	addContextFlag(cmd, &o.context, " where a call does not say")
	flags.BoolVar(&o.recall, "recall", false, "show the model what left the prompt where it is asked about, marked as recalled")
	addEmbedFlag(cmd, &o.embedModel)
	flags.StringVar(&o.models, "models", "", "`file` with models of your own (default models.toml in your settings folder)")
	flags.DurationVar(&o.ends.idleAfter, "idle-after", time.Hour, "how long a session must have rested to be taken for idle")
	flags.StringVar(&o.ends.dir, "bundle-dir", "", "`folder` for the bundles of sessions that end")
	flags.StringVar(&o.ends.sessions, "sessions-dir", "", "`folder` for session documents (default none is written)")
	flags.BoolVar(&o.ends.noBundle, "no-bundle", false, "make no bundles")
	flags.BoolVar(&o.modelSummaries, "model-summaries", false, "have the session's model summarise turns that leave the prompt, ahead and in the background; every summary costs calls of the model server")
	o.compression.addFlags(cmd)
	o.compression.addOffFlags(cmd)
	a.addFollowUpFlag(cmd)
	o.turns.addFlags(cmd)
	flags.Int64Var(&o.limits.Body, "max-body", 1<<20, "how many `bytes` of JSON a request may have")
	flags.Int64Var(&o.limits.Turns, "max-append", 64<<20, "how many `bytes` a request may have that appends turns")
	flags.Int64Var(&o.limits.Bundle, "max-bundle", 1<<30, "how many `bytes` a bundle may have that is imported")
	flags.Int64Var(&o.limits.ImportTurns, "max-turns", 100_000, "how many turns a bundle or a history may have that is imported")
	flags.Int64Var(&o.limits.Bodies, "max-bodies", 512<<20, "how many `bytes` all requests under way may have together")
	flags.Float64Var(&o.limits.Rate, "rate", 0, "how many requests a second each key may make (default no limit)")
	flags.DurationVar(&o.limits.Answer, "timeout", 30*time.Second, "how long a request may take to be answered, exchanges and streams apart")
	flags.DurationVar(&o.limits.Drain, "drain", 0, "how long to go on, with /readyz saying no, before it ends")
	flags.DurationVar(&o.limits.Grace, "grace", 30*time.Second, "how long requests under way may take when it is to end")
	o.observe.addFlags(cmd)
	return cmd
}

func (a *app) serve(ctx context.Context, o serveOptions) (err error) {
	// The variable of the server alone goes over the one that chat had before they were one.
	o.upstream.url = cmp.Or(o.upstream.url, a.getenv(envUpstream))
	if err := o.check(); err != nil {
		return err
	}
	trusted, err := networks(o.proxies)
	if err != nil {
		return err
	}
	config, err := a.serveConfig(ctx, o)
	if err != nil {
		return err
	}
	// The address is taken before the store is opened: a second server says so at once.
	addr := cmp.Or(o.addr, a.getenv(envAddr), defaultAddr)
	listener, err := a.listen(ctx, addr)
	if err != nil {
		return err
	}
	bus, err := a.connectBus(o.bus, o.stream)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer bus.close()
	seen, err := a.observe(ctx, o.observe, o.upstream, &config)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer func() { err = errors.Join(err, seen.end()) }()
	model, err := a.upstreamModel(o.upstream)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	if o.modelSummaries {
		config.Summariser = upstreamSummariser{seen.model(model)}
	}
	if o.upstream.recordOnly && o.recall {
		a.note("warning: with --record-only calls of model clients pass untouched; --recall is for what is said with say alone")
	}
	opened, err := a.openStore(ctx, toMake)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	st := observe.NewStore(opened)
	// Before the engine, which takes the exports of the store over for a bus.
	asks, err := a.asksForKeys(ctx, st, listener, addr, o)
	if err == nil {
		err = bus.use(ctx, st, &config)
	}
	if err != nil {
		return errors.Join(err, st.Close(), listener.Close())
	}
	serving := false
	err = a.onEngine(ctx, st, config, func(eng *turnstone.Engine) error {
		defer seen.watch(ctx, eng, st)()
		var guard service.Guard
		if asks {
			guard = eng
		}
		fronts, err := a.fronts(o.upstream, &config, seen.ask)
		if err != nil {
			return err
		}
		s, err := service.New(service.Config{
			Engine: eng, Limits: o.limits, Version: buildVersion(), Log: config.Log, Model: seen.model(model), ModelName: config.ModelName,
			Guard: guard, TrustedProxies: trusted, Origins: o.origins, Front: fronts.Handler(), Refuse: front.Refuse,
			MCP: mcpHandler(config.Log), Open: seen.open(ctx, eng, st, bus), Observe: seen.observer.Middleware,
			Ending: func(n int) { a.noteEnding(n, o.limits.Grace) },
		})
		if err != nil {
			return err
		}
		// What fails here fails in the background too, which tells of it.
		eng.Recover(ctx)
		if err := a.announce(ctx, addr, listener.Addr(), o.upstream); err != nil {
			return err
		}
		serving = true
		defer twice(s.Interrupt)()
		defer keepMemory(ctx, slog.New(config.Log))()
		return s.Serve(ctx, listener)
	})
	if !serving {
		err = errors.Join(err, listener.Close())
	}
	return err
}

func (o *serveOptions) check() error {
	l := &o.limits
	for _, f := range []struct {
		flag  string
		value any
		fits  bool
		give  string
	}{
		{"max-body", l.Body, l.Body >= 1, "give at least 1 byte"},
		{"max-append", l.Turns, l.Turns >= 1, "give at least 1 byte"},
		{"max-bundle", l.Bundle, l.Bundle >= 1, "give at least 1 byte"},
		{"max-turns", l.ImportTurns, l.ImportTurns >= 1, "give at least 1 turn"},
		{"rate", l.Rate, l.Rate >= 0 && !math.IsInf(l.Rate, 0), "give how many requests a second each key may make, or leave it out"},
		{"timeout", l.Answer, l.Answer > 0, "give a time such as 30s"},
		{"drain", l.Drain, l.Drain >= 0, "give a time such as 5s, or leave it out"},
		{"grace", l.Grace, l.Grace > 0, "give a time such as 30s"},
	} {
		if !f.fits {
			return usage(f.give, "--%s: %v is no bound", f.flag, f.value)
		}
	}
	if most := max(l.Body, l.Turns); l.Bodies < most {
		return usage(fmt.Sprintf("give at least %d, or less for --max-append and --max-body", most), "--max-bodies: %d bytes are less than one request may have", l.Bodies)
	}
	if o.context != 0 {
		if _, err := budget.WindowOf(o.context); err != nil {
			return err
		}
	}
	return o.upstream.check()
}

// serveConfig is how the engine of a server works.
func (a *app) serveConfig(ctx context.Context, o serveOptions) (turnstone.Config, error) {
	// Whoever looks for vocabularies there would name a flag of other commands.
	_, api, err := a.upstreamURL(o.upstream)
	if err != nil {
		return turnstone.Config{}, err
	}
	config, err := a.endConfig(o.ends)
	if err != nil {
		return config, err
	}
	if config.Limits, err = o.turns.turnLimits(); err != nil {
		return config, err
	}
	known, err := a.knownBeside(o.models)
	if api == apiOllama {
		known, err = a.known(modelFlags{models: o.models, url: o.upstream.url, keyEnv: o.upstream.keyEnv})
	}
	if err != nil {
		return config, err
	}
	name := cmp.Or(o.upstream.model, a.getenv(envModel))
	named, err := known.config(ctx, name)
	if err != nil {
		return config, err
	}
	o.compression.configure(&config)
	config.Profiles, config.ModelName, config.Context = named.Profiles, name, o.context
	if o.recall {
		config.Recall = &turnstone.RecallOptions{}
	}
	if config.Embedder, err = a.upstreamEmbedder(o.upstream, o.embedModel); err != nil {
		return config, err
	}
	if known.server != nil {
		config.Vocabulary = known.server.encoding // the log tells where there is none
	}
	config.Log = slog.NewJSONHandler(redacting{a}, &slog.HandlerOptions{Level: slog.LevelWarn})
	return config, nil
}

// redacting writes the log to standard error, without secrets.
type redacting struct{ app *app }

func (r redacting) Write(line []byte) (int, error) {
	if _, err := io.WriteString(r.app.stderr, r.app.redact(string(line))); err != nil {
		return 0, err
	}
	return len(line), nil
}

// asksForKeys is whether others reach the server, or it is told to ask. Some tenant must have a key then. What else is refused
// without a key is refused here too.
func (a *app) asksForKeys(ctx context.Context, st store.Store, listener net.Listener, addr string, o serveOptions) (bool, error) {
	at, err := netip.ParseAddrPort(listener.Addr().String())
	if err != nil {
		return false, fmt.Errorf("--addr: %w", err)
	}
	alone := at.Addr().IsLoopback()
	asks := o.keys || !alone
	if !asks && o.limits.Rate > 0 {
		return false, usage("add --keys, or leave --rate out", "--rate: it is counted for each key, and nobody shows one here")
	}
	err = service.CheckOrigins(o.origins, asks)
	if wrong := (*invalid.Field)(nil); errors.As(err, &wrong) {
		return false, usage(wrong.Fix, "--cors-origin: %s", wrong.Problem)
	}
	if err != nil || !asks {
		return false, err
	}
	keyed := false
	err = st.View(ctx, func(tx store.Tx) (err error) {
		keyed, err = tx.Access().Keyed(ctx)
		return err
	})
	switch {
	case err != nil || keyed:
		return true, err
	case alone:
		return false, usage("make one with: "+a.line("key create")+", or leave --keys out", "--keys: there is no key to ask for")
	}
	return false, usage("make one with: "+a.line("key create")+", or listen on 127.0.0.1", "--addr: %s can be reached by others, and there is no key to ask them for", addr)
}

// announce says where the server is, and whether the model server answers.
func (a *app) announce(ctx context.Context, addr string, taken net.Addr, up upstreamFlags) error {
	at, everywhere := servedAt(addr, taken)
	base := "http://" + at
	place, err := a.storePlace()
	if err != nil {
		return err
	}
	a.note("serving %s; see %s/api/v1/docs; end with Ctrl-C", place, base)
	if everywhere {
		a.note("others reach it under the names and addresses of this machine")
	}
	a.note("for clients of Ollama %[1]s, of OpenAI %[1]s/v1, of MCP %[1]s/mcp; metrics at %[1]s/metrics", base)
	if err := a.tryUpstream(ctx, up); err != nil {
		return err
	}
	if a.json {
		err = a.printJSON(map[string]string{"url": base, "docs": base + "/api/v1/docs", "document": base + "/api/v1/openapi.json"})
	} else {
		err = a.printf("%s", base)
	}
	if err != nil {
		return err
	}
	return a.out.Flush()
}
