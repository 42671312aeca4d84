package observe

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/turn"
)

// lookTime is how long a look at the store may take while metrics are asked for.
const lookTime = 2 * time.Second

// Committed counts and times exchanges. It is for turnstone.Config.Observe.
func (o *Observer) Committed(key turn.Key, state commit.State) {
	switch {
	case state.Final():
		o.metrics.exchanges.WithLabelValues(string(state)).Inc()
		if begin, ok := o.commits.LoadAndDelete(key); ok {
			o.metrics.commit.Observe(o.since(begin.(time.Time)))
		}
	case state == commit.Committing:
		o.commits.Store(key, o.clock())
	}
}

// Watch counts what the engine announces, for all its tenants, and shows how far daemons are behind. Generation is the store's, nil where there
// is none to show. Ctx is whose values looks at the store have. Stop ends it; it must be called before the engine is
// closed.
func (o *Observer) Watch(ctx context.Context, eng *turnstone.Engine, generation func() (uint64, bool)) (stop func()) {
	look := func() (context.Context, context.CancelFunc) {
		return context.WithTimeout(context.WithoutCancel(ctx), lookTime)
	}
	standing := &standing{look: look, engine: eng, generation: generation}
	o.registry.MustRegister(standing)
	unlisten := eng.ListenAll(func(e event.Event) {
		o.metrics.events.WithLabelValues(string(e.Kind)).Inc()
		if e.Kind == event.Compressed {
			o.metrics.passes.Inc()
		}
	})
	return func() {
		unlisten()
		o.registry.Unregister(standing)
	}
}

var (
	publishedDesc  = prometheus.NewDesc("turnstone_exports_published", "Number of the export that was published last, of all tenants.", nil, nil)
	behindDesc     = prometheus.NewDesc("turnstone_daemon_backlog", "Published exports that a daemon has not handled yet.", []string{"daemon"}, nil)
	deferralsDesc  = prometheus.NewDesc("turnstone_deferrals", "Targets of commits that could not be written yet, of all tenants.", nil, nil)
	generationDesc = prometheus.NewDesc("turnstone_store_generation", "Changes whenever another process wrote to the store.", nil, nil)
)

// standing looks at the store whenever metrics are asked for.
type standing struct {
	look       func() (context.Context, context.CancelFunc)
	engine     *turnstone.Engine
	generation func() (uint64, bool)
}

// Describe implements [prometheus.Collector].
func (s *standing) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{publishedDesc, behindDesc, deferralsDesc, generationDesc} {
		to <- d
	}
}

// Collect implements [prometheus.Collector]. What cannot be read now is left out: the store's absence must not take the
// other metrics with it.
func (s *standing) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := s.look()
	defer cancel()
	if marks, last, err := s.engine.Daemons(ctx); err == nil {
		to <- prometheus.MustNewConstMetric(publishedDesc, prometheus.GaugeValue, float64(last))
		for _, m := range marks {
			to <- prometheus.MustNewConstMetric(behindDesc, prometheus.GaugeValue, float64(max(last-m.Through, 0)), m.Daemon)
		}
	}
	if waiting, err := s.engine.CountDeferrals(ctx); err == nil {
		to <- prometheus.MustNewConstMetric(deferralsDesc, prometheus.GaugeValue, float64(waiting))
	}
	if s.generation != nil {
		if g, ok := s.generation(); ok {
			to <- prometheus.MustNewConstMetric(generationDesc, prometheus.GaugeValue, float64(g))
		}
	}
}
