package observe_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/turnstone-dev/turnstone/internal/httpstream"
	"github.com/turnstone-dev/turnstone/llm"
)

// ask has a model asked, and returns the span of it.
func (w *world) ask(m scripted, r llm.Request) sdktrace.ReadOnlySpan {
	w.t.Helper()
	for range w.observer.Model("small", "scripted", m).Stream(w.t.Context(), r) {
	}
	spans := w.spans.Ended()
	if len(spans) == 0 {
		w.t.Fatal("there is no span")
	}
	return spans[len(spans)-1]
}

func TestFinishReasons(t *testing.T) {
	w := newWorld(t, nil)
	for stop, want := range map[llm.Stop]string{
		llm.StopEnd: "stop", llm.StopLength: "length", llm.StopCalls: "tool_calls", llm.StopFilter: "content_filter", "tired": "tired",
	} {
		span := w.ask(scripted{chunks: []llm.Chunk{{Stop: stop}}}, llm.Request{})
		if got := attributeOf(span, "gen_ai.response.finish_reasons"); got != `["`+want+`"]` {
			t.Errorf("%s is %s", stop, got)
		}
	}
}

func TestErrorTypes(t *testing.T) {
	w := newWorld(t, nil)
	for want, errs := range map[string][]error{
		"cancelled": {context.Canceled}, "_OTHER": {errors.New("secret-words")},
		"timeout":     {context.DeadlineExceeded, httpstream.ErrSilent, &llm.Error{Kind: llm.ErrInterrupted, Err: httpstream.ErrSilent}},
		"unreachable": {&llm.Error{Kind: llm.ErrUnreachable}}, "model_missing": {&llm.Error{Kind: llm.ErrModelMissing}},
		"rate_limited": {&llm.Error{Kind: llm.ErrRateLimited}}, "context_exceeded": {&llm.Error{Kind: llm.ErrContextExceeded}},
		"refused": {&llm.Error{Kind: llm.ErrRefused}}, "failed": {&llm.Error{Kind: llm.ErrFailed}}, "interrupted": {&llm.Error{Kind: llm.ErrInterrupted}},
	} {
		for _, err := range errs {
			span := w.ask(scripted{err: err}, llm.Request{})
			if got := attributeOf(span, "error.type"); got != want || span.Status().Description != want {
				t.Errorf("%v is %s, %s", err, got, span.Status().Description)
			}
		}
		w.measured(fmt.Sprintf(`gen_ai_client_operation_duration_seconds_count{error_type=%q,gen_ai_operation_name="chat",gen_ai_provider_name="scripted",gen_ai_request_model="other"} %d`, want, len(errs)))
	}
}

func TestOptionalAttributes(t *testing.T) {
	w := newWorld(t, nil)
	half := 0.5
	chunks := []llm.Chunk{{Text: "Hi."}, {Stop: llm.StopEnd}}
	span := w.ask(scripted{chunks: chunks}, llm.Request{JSON: true, Temperature: &half, MaxTokens: 7, Conversation: "a"})
	bare := w.ask(scripted{chunks: chunks}, llm.Request{})
	for name, want := range map[string]string{
		"gen_ai.output.type": "json", "gen_ai.request.temperature": "0.5", "gen_ai.request.max_tokens": "7", "gen_ai.conversation.id": "a",
	} {
		if got := attributeOf(span, attribute.Key(name)); got != want {
			t.Errorf("%s is %q", name, got)
		}
		if got := attributeOf(bare, attribute.Key(name)); got != "" {
			t.Errorf("%s is %q where it was not asked for", name, got)
		}
	}
	// A server that does not count has not used no tokens.
	if got := attributeOf(bare, "gen_ai.usage.input_tokens"); got != "" {
		t.Errorf("%s tokens of a server that does not count", got)
	}
	if _, text := w.do(http.MethodGet, "/metrics", "", nil); len(text) == 0 || strings.Contains(text, "gen_ai_client_token_usage_count") {
		t.Error("tokens of a server that does not count are measured")
	}
}

// Methods and routes are few, whatever clients make up.
func TestSpansOfUnknownRequests(t *testing.T) {
	w := newWorld(t, nil)
	w.do("BREW", "/nowhere/4711", "", nil)
	w.do(http.MethodGet, "/nowhere/4711", "", nil)
	w.do(http.MethodPost, "/broken", "", nil)
	var names []string
	for _, span := range w.spans.Ended() {
		names = append(names, span.Name())
		if span.Name() == "POST /broken" && attributeOf(span, "error.type") != "500" {
			t.Errorf("broken: %v", span.Attributes())
		}
		if span.Name() == "_OTHER" && (attributeOf(span, "http.request.method") != "_OTHER" || attributeOf(span, "http.route") != "") {
			t.Errorf("made up: %v", span.Attributes())
		}
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"GET", "POST /broken", "_OTHER"}) {
		t.Errorf("spans %q", names)
	}
}
