package observe

import (
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	oteltrace "go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// Config is how a server is observed. The zero value keeps metrics only.
type Config struct {
	// Tracer is given a span for every request and every call of a model. Defaults to none.
	Tracer oteltrace.Tracer
	// Access is told every request when it is answered. Defaults to nowhere.
	Access slog.Handler
	// Clock is where times come from. Defaults to time.Now.
	Clock func() time.Time
}

// Observer keeps what it was told of one server. It is safe for concurrent use.
type Observer struct {
	tracer oteltrace.Tracer
	access *slog.Logger
	clock  func() time.Time

	registry *prometheus.Registry
	metrics  metrics
	models   labels

	commits sync.Map // of turn.Key to time.Time: when a commit under way began
}

// New makes an observer with a registry of its own.
func New(config Config) *Observer {
	if config.Tracer == nil {
		config.Tracer = noop.NewTracerProvider().Tracer("")
	}
	if config.Access == nil {
		config.Access = slog.DiscardHandler
	}
	if config.Clock == nil {
		config.Clock = time.Now
	}
	o := &Observer{
		tracer: config.Tracer, access: slog.New(config.Access), clock: config.Clock,
		registry: prometheus.NewPedanticRegistry(), metrics: newMetrics(),
	}
	o.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	o.registry.MustRegister(o.metrics.all()...)
	return o
}

// Metrics answers with everything that is measured, in the format of Prometheus.
func (o *Observer) Metrics() http.Handler {
	return promhttp.HandlerFor(o.registry, promhttp.HandlerOpts{Registry: o.registry, ErrorHandling: promhttp.ContinueOnError})
}

// since is how many seconds have gone by.
func (o *Observer) since(begin time.Time) float64 { return o.clock().Sub(begin).Seconds() }
