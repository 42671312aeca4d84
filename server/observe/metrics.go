package observe

import "github.com/prometheus/client_golang/prometheus"

// buckets reach from a fast answer of the store to a slow one of a model, in seconds.
var buckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}

// metrics are what is counted. Labels have few values: routes, not paths; names of models that are served.
type metrics struct {
	requests   *prometheus.CounterVec   // by route and status
	duration   *prometheus.HistogramVec // by route
	inFlight   prometheus.Gauge
	exchanges  *prometheus.CounterVec // by status
	commit     prometheus.Histogram
	tokens     *prometheus.HistogramVec // of calls of models, by operation, provider, model and direction
	calls      *prometheus.HistogramVec // by operation, provider, model and error
	firstChunk *prometheus.HistogramVec // by operation, provider and model
	events     *prometheus.CounterVec   // by kind
	passes     prometheus.Counter
}

func newMetrics() metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	}
	return metrics{
		requests:   counter("turnstone_http_requests_total", "Requests that were answered.", "route", "status"),
		duration:   histogram("turnstone_http_request_seconds", "How long a request took, streams included.", buckets, "route"),
		inFlight:   prometheus.NewGauge(prometheus.GaugeOpts{Name: "turnstone_http_requests_in_flight", Help: "Requests that are being answered."}),
		exchanges:  counter("turnstone_exchanges_total", "Exchanges that were committed, by how they ended.", "status"),
		commit:     prometheus.NewHistogram(prometheus.HistogramOpts{Name: "turnstone_commit_seconds", Help: "How long it took to commit an exchange.", Buckets: buckets}),
		tokens:     histogram(tokenUsage, "Tokens that a model was sent (input) and said (output) in a call, as its server counts.", tokenBuckets, byOperation, byProvider, byModel, byTokens),
		calls:      histogram(duration, "How long a call of a model took, and with which error it ended, if with one.", secondBuckets, byOperation, byProvider, byModel, byError),
		firstChunk: histogram(toFirst, "How long a model took to begin its answer.", secondBuckets, byOperation, byProvider, byModel),
		events:     counter("turnstone_events_total", "What the engine announced, for all tenants.", "kind"),
		passes:     prometheus.NewCounter(prometheus.CounterOpts{Name: "turnstone_compression_passes_total", Help: "Passes that took turns out of prompts, of all tenants."}),
	}
}

func (m *metrics) all() []prometheus.Collector {
	return []prometheus.Collector{
		m.requests, m.duration, m.inFlight, m.exchanges, m.commit, m.tokens, m.calls, m.firstChunk, m.events, m.passes,
	}
}
