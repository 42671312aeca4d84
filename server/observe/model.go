package observe

import (
	"context"
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
	a := &asking{observer: o, name: name, provider: provider, begin: o.clock()}
	asked, a.span = o.tracer.Start(ctx, chat+" "+name, oteltrace.WithSpanKind(oteltrace.SpanKindClient), oteltrace.WithAttributes(attributes(name, provider, &r)...))
	return asked, a.heard, a.end
}

// asking is a call of a model that is observed.
type asking struct {
	observer       *Observer
	name, provider string
	begin          time.Time
	answered       bool
	failure        string // the kind of it, empty where there is none
	span           oteltrace.Span
}

func attributes(name, provider string, r *llm.Request) []attribute.KeyValue {
	list := []attribute.KeyValue{
		attribute.String(genAIOperation, chat), attribute.String(genAIProvider, provider), attribute.String(genAIModel, name),
	}
	if r.Conversation != "" {
		list = append(list, attribute.String(genAIConversation, r.Conversation))
	}
	if r.JSON {
		list = append(list, attribute.String(genAIOutput, "json"))
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
	if err != nil {
		a.failure = errorTypeOf(err)
		return
	}
	if !a.answered && (chunk.Text != "" || chunk.Thinking != "" || len(chunk.Calls) > 0) {
		a.answered = true
		o := a.observer
		o.metrics.firstChunk.WithLabelValues(a.labels()...).Observe(o.since(a.begin))
		a.span.AddEvent(firstToken)
	}
	if chunk.Stop != "" {
		a.answered = true
		a.count(&chunk)
	}
}

// count is told the last piece.
func (a *asking) count(last *llm.Chunk) {
	u, tokens := last.Usage, a.observer.metrics.tokens
	reason, ok := finishReasons[last.Stop]
	if !ok {
		reason = string(last.Stop)
	}
	a.span.SetAttributes(attribute.StringSlice(genAIFinish, []string{reason}))
	// What a server does not count is not known, which is not the same as none.
	if u == (llm.Usage{}) {
		return
	}
	tokens.WithLabelValues(a.labels("input")...).Observe(float64(u.Prompt))
	tokens.WithLabelValues(a.labels("output")...).Observe(float64(u.Answer))
	a.span.SetAttributes(attribute.Int(genAIInputTokens, u.Prompt), attribute.Int(genAICachedTokens, u.Cached), attribute.Int(genAIOutputTokens, u.Answer))
}

// labels are those of every metric of the call, and more.
func (a *asking) labels(more ...string) []string {
	return append([]string{chat, a.provider, a.observer.models.of(a.name, a.answered)}, more...)
}

func (a *asking) end() {
	o := a.observer
	o.metrics.calls.WithLabelValues(a.labels(a.failure)...).Observe(o.since(a.begin))
	if a.failure != "" {
		a.span.SetAttributes(attribute.String(errorType, a.failure))
		a.span.SetStatus(codes.Error, a.failure)
	}
	a.span.End()
}
