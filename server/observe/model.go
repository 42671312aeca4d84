package observe

import (
	"context"
	"errors"
	"iter"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/turnstone-dev/turnstone/llm"
)

// Model returns a model that answers as m does, and whose tokens, times and failures are seen under that name. Provider
// is who serves it, such as "ollama" or "openai".
func (o *Observer) Model(name, provider string, m llm.Model) llm.Model {
	return &model{o, name, provider, m}
}

type model struct {
	observer       *Observer
	name, provider string
	inner          llm.Model
}

// Name is what the model is called.
func (m *model) Name() string { return m.name }

// Stream implements [llm.Model].
func (m *model) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		ctx, heard, end := m.observer.Ask(ctx, m.name, m.provider, r)
		defer end()
		for chunk, err := range m.inner.Stream(ctx, r) {
			heard(chunk, err)
			if !yield(chunk, err) {
				return
			}
		}
	}
}

// Ask begins to observe a call of a model, under that name. Provider is who serves it. The model is asked with the context
// that is returned; heard is told what comes of it, as an [llm.Model] would stream it, where pieces behind the first may
// be left out; end is called when it is over, however it ended. Both are for one goroutine at a time.
func (o *Observer) Ask(ctx context.Context, name, provider string, r llm.Request) (asked context.Context, heard func(llm.Chunk, error), end func()) {
	a := &asking{observer: o, name: name, begin: o.clock()}
	asked, a.span = o.tracer.Start(ctx, "chat "+name, oteltrace.WithSpanKind(oteltrace.SpanKindClient), oteltrace.WithAttributes(attributes(name, provider, &r)...))
	return asked, a.heard, func() { a.span.End() }
}

// asking is a call of a model that is observed.
type asking struct {
	observer *Observer
	name     string
	begin    time.Time
	spoken   bool
	span     oteltrace.Span
}

func attributes(name, provider string, r *llm.Request) []attribute.KeyValue {
	list := []attribute.KeyValue{
		attribute.String(genAIOperation, "chat"), attribute.String(genAIProvider, provider), attribute.String(genAIModel, name),
	}
	if r.MaxTokens > 0 {
		list = append(list, attribute.Int(genAIMaxTokens, r.MaxTokens))
	}
	if r.Temperature != nil {
		list = append(list, attribute.Float64(genAITemperature, *r.Temperature))
	}
	return list
}

func (a *asking) heard(chunk llm.Chunk, err error) {
	if !a.spoken && err == nil && (chunk.Text != "" || chunk.Thinking != "" || len(chunk.Calls) > 0) {
		a.spoken = true
		o := a.observer
		o.metrics.firstToken.WithLabelValues(o.models.of(a.name, true)).Observe(o.since(a.begin))
		a.span.AddEvent(firstToken)
	}
	switch {
	case err != nil:
		a.failed(err)
	case chunk.Stop != "":
		a.ended(&chunk)
	}
}

func (a *asking) ended(last *llm.Chunk) {
	o, u := a.observer, last.Usage
	label := o.models.of(a.name, true)
	o.metrics.tokens.WithLabelValues(label, "in").Add(float64(u.Prompt))
	o.metrics.tokens.WithLabelValues(label, "out").Add(float64(u.Answer))
	a.span.SetAttributes(
		attribute.Int(genAIInputTokens, u.Prompt), attribute.Int(genAICachedTokens, u.Cached), attribute.Int(genAIOutputTokens, u.Answer),
		attribute.StringSlice(genAIFinish, []string{string(last.Stop)}),
	)
}

// failed tells of an error by its kind: its words may be those of the server, and hold what was said.
func (a *asking) failed(err error) {
	a.observer.metrics.failures.WithLabelValues(a.observer.models.of(a.name, false)).Inc()
	kind := "other"
	var failure *llm.Error
	switch {
	case errors.Is(err, context.Canceled):
		kind = "cancelled"
	case errors.Is(err, context.DeadlineExceeded):
		kind = "deadline"
	case errors.As(err, &failure) && failure.Kind != nil:
		kind = failure.Kind.Error()
	}
	a.span.SetAttributes(attribute.String(errorType, kind))
	a.span.SetStatus(codes.Error, kind)
}
