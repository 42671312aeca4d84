package observe

import (
	"context"
	"errors"
	"iter"

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
		o := m.observer
		begin, first := o.clock(), true
		ctx, span := o.tracer.Start(ctx, "chat "+m.name, oteltrace.WithSpanKind(oteltrace.SpanKindClient), oteltrace.WithAttributes(m.asked(&r)...))
		defer span.End()
		for chunk, err := range m.inner.Stream(ctx, r) {
			if first && err == nil && (chunk.Text != "" || chunk.Thinking != "" || len(chunk.Calls) > 0) {
				first = false
				seconds := o.since(begin)
				o.metrics.firstToken.WithLabelValues(o.models.of(m.name, true)).Observe(seconds)
				span.AddEvent(firstToken)
			}
			switch {
			case err != nil:
				m.failed(span, err)
			case chunk.Stop != "":
				m.ended(span, &chunk)
			}
			if !yield(chunk, err) {
				return
			}
		}
	}
}

func (m *model) asked(r *llm.Request) []attribute.KeyValue {
	list := []attribute.KeyValue{
		attribute.String(genAIOperation, "chat"), attribute.String(genAIProvider, m.provider), attribute.String(genAIModel, m.name),
	}
	if r.MaxTokens > 0 {
		list = append(list, attribute.Int(genAIMaxTokens, r.MaxTokens))
	}
	if r.Temperature != nil {
		list = append(list, attribute.Float64(genAITemperature, *r.Temperature))
	}
	return list
}

func (m *model) ended(span oteltrace.Span, last *llm.Chunk) {
	o, u := m.observer, last.Usage
	label := o.models.of(m.name, true)
	o.metrics.tokens.WithLabelValues(label, "in").Add(float64(u.Prompt))
	o.metrics.tokens.WithLabelValues(label, "out").Add(float64(u.Answer))
	span.SetAttributes(
		attribute.Int(genAIInputTokens, u.Prompt), attribute.Int(genAICachedTokens, u.Cached), attribute.Int(genAIOutputTokens, u.Answer),
		attribute.StringSlice(genAIFinish, []string{string(last.Stop)}),
	)
}

// failed tells of an error by its kind: its words may be those of the server, and hold what was said.
func (m *model) failed(span oteltrace.Span, err error) {
	m.observer.metrics.failures.WithLabelValues(m.observer.models.of(m.name, false)).Inc()
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
	span.SetAttributes(attribute.String(errorType, kind))
	span.SetStatus(codes.Error, kind)
}
