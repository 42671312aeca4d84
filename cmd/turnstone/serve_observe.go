package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/access"
	"github.com/turnstone-dev/turnstone/llm"
	service "github.com/turnstone-dev/turnstone/server"
	"github.com/turnstone-dev/turnstone/server/mcp"
	"github.com/turnstone-dev/turnstone/server/observe"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

const (
	envTraces = "OTEL_EXPORTER_OTLP_ENDPOINT"
	// lastTraces is how long spans that were not sent yet may take when the server ends.
	lastTraces = 5 * time.Second
)

// observeFlags say what an operator wants to see of a server.
type observeFlags struct {
	access   bool
	profiles string
}

func (f *observeFlags) addFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.access, "access-log", false, "log every request on standard error, as JSON")
	cmd.Flags().StringVar(&f.profiles, "pprof", "", "loopback `address` to serve profiles on, such as 127.0.0.1:6060 (default none)")
}

// observed is what is seen of a server, and what must end with it.
type observed struct {
	app      *app
	observer *observe.Observer
	provider string
	ends     []func() error
}

// observe has the engine tell an observer what it does.
func (a *app) observe(ctx context.Context, f observeFlags, up upstreamFlags, config *turnstone.Config) (*observed, error) {
	v := &observed{app: a, provider: cmp.Or(up.api, apiOf(a.modelURL(up.url), false))}
	var settings observe.Config
	if f.access {
		settings.Access = slog.NewJSONHandler(redacting{a}, nil)
	}
	if err := v.trace(ctx, config.Log, &settings); err != nil {
		return nil, err
	}
	if f.profiles != "" {
		if err := v.serveProfiles(ctx, f.profiles); err != nil {
			return nil, errors.Join(err, v.end())
		}
	}
	v.observer = observe.New(settings)
	config.Tracer, config.Observe = settings.Tracer, v.observer.Committed
	return v, nil
}

// trace sends spans to where the environment says.
func (v *observed) trace(ctx context.Context, log slog.Handler, settings *observe.Config) error {
	endpoint := v.app.getenv(envTraces)
	if endpoint == "" {
		return nil
	}
	v.app.protect(endpoint)
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { slog.New(log).Warn("traces are not sent", "error", err) }))
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", envTraces, err)
	}
	about, err := resource.New(ctx, resource.WithAttributes(
		attribute.String("service.name", "turnstone"), attribute.String("service.version", buildVersion()),
	), resource.WithFromEnv())
	if err != nil {
		return fmt.Errorf("OpenTelemetry: %w", err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	v.ends = append(v.ends, func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTraces)
		defer cancel()
		if err := provider.Shutdown(ctx); err != nil {
			// Spans that nobody takes are no reason to end with an error.
			slog.New(log).WarnContext(ctx, "traces are not sent", "error", err)
		}
		return nil
	})
	settings.Tracer = provider.Tracer("github.com/turnstone-dev/turnstone")
	return nil
}

// serveProfiles serves profiles to this machine.
func (v *observed) serveProfiles(ctx context.Context, addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if ip, bad := netip.ParseAddr(host); err != nil || !strings.EqualFold(host, "localhost") && (bad != nil || !ip.IsLoopback()) {
		return usage("give one of this machine such as 127.0.0.1:6060", "--pprof: %q is no loopback address", addr)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return usage("end what listens there, or give another", "--pprof: %v", err)
	}
	v.app.note("profiles at http://%s/debug/pprof/", listener.Addr())
	srv := &http.Server{Handler: service.Local(observe.Profiles()), ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(listener) }()
	v.ends = append(v.ends, func() error {
		err := srv.Close()
		if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
		return err
	})
	return nil
}

// end ends what was begun, the last first.
func (v *observed) end() (err error) {
	for i := len(v.ends) - 1; i >= 0; i-- {
		err = errors.Join(err, v.ends[i]())
	}
	return err
}

// model is the model of that name, observed.
func (v *observed) model(of func(string) llm.Model) func(string) llm.Model {
	return func(name string) llm.Model { return v.observer.Model(name, v.provider, of(name)) }
}

// observing is how models are observed that are asked by somebody else.
type observing = func(ctx context.Context, model string, r llm.Request) (context.Context, func(llm.Chunk, error), func())

// ask observes a call of the upstream server.
func (v *observed) ask(ctx context.Context, model string, r llm.Request) (context.Context, func(llm.Chunk, error), func()) {
	return v.observer.Ask(ctx, model, v.provider, r)
}

// open are the handlers that everybody may ask.
func (v *observed) open(ctx context.Context, eng *turnstone.Engine, st *observe.Store, bus connected) map[string]http.Handler {
	checks := []observe.Check{{Name: "store", Run: func(ctx context.Context) error {
		if _, err := eng.Sessions(ctx, turn.SessionFilter{Limit: 1}); err != nil {
			return err
		}
		return st.Ready(ctx)
	}}}
	if bus.nc != nil {
		checks = append(checks, observe.Check{Name: "bus", Run: func(context.Context) error {
			if !bus.nc.IsConnected() {
				return errors.New("not connected")
			}
			return nil
		}})
	}
	return map[string]http.Handler{
		"GET /healthz": observe.Alive(), "GET /readyz": observe.Ready(ctx.Done(), checks...), "GET /metrics": v.observer.Metrics(),
	}
}

// watch looks at an engine and its store until stop is called.
func (v *observed) watch(ctx context.Context, eng *turnstone.Engine, st store.Store) (stop func()) {
	return v.observer.Watch(ctx, eng, st.Generation)
}

// mcpHandler answers MCP clients with the engine that the server's guard found for them.
func mcpHandler(log slog.Handler) http.Handler {
	return mcp.New(mcp.Config{
		Engine:   func(r *http.Request) (*turnstone.Engine, error) { return service.EngineOf(r.Context()), nil },
		ReadOnly: func(r *http.Request) bool { return service.Allowed(r.Context(), access.Write) != nil },
		AnyHost:  true, // the guard looks at the host
		Version:  buildVersion(), Log: log,
	}).Handler()
}
