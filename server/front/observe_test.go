package front_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/server/front"
	"github.com/turnstone-dev/turnstone/server/observe"
)

// seen is what an observer sees of a front.
type seen struct {
	observer *observe.Observer
	spans    *tracetest.SpanRecorder
}

func newSeen() *seen {
	s := &seen{spans: tracetest.NewSpanRecorder()}
	s.observer = observe.New(observe.Config{Tracer: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(s.spans)).Tracer("test")})
	return s
}

func (s *seen) watch(c *front.Config) {
	c.Observe = func(ctx context.Context, model string, r llm.Request) (context.Context, func(llm.Chunk, error), func()) {
		return s.observer.Ask(ctx, model, "scripted", r)
	}
}

// chats are the ended calls of a model, each with its attributes and events.
func (s *seen) chats() []string {
	var all []string
	for _, span := range s.spans.Ended() {
		line := span.Name()
		for _, a := range span.Attributes() {
			line += fmt.Sprintf(" %s=%s", a.Key, a.Value.String())
		}
		for _, e := range span.Events() {
			line += " " + e.Name
		}
		all = append(all, line)
	}
	return all
}

func (s *seen) metrics(t *testing.T) string {
	t.Helper()
	r := httptest.NewRecorder()
	s.observer.Metrics().ServeHTTP(r, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// Calls that go through a front are seen as those of the engine's own model are: a span each, tokens, and failures.
func TestCallsAreObserved(t *testing.T) {
	calling := answer{dies: -1, calls: []called{{"call_1", "weather", `{}`}}}
	const usage = " gen_ai.usage.input_tokens=7 gen_ai.usage.cache_read.input_tokens=0 gen_ai.usage.output_tokens=3"
	counted := []string{`turnstone_model_tokens_total{direction="in",model="m"} 7`, `turnstone_model_tokens_total{direction="out",model="m"} 3`}
	first := `turnstone_model_first_token_seconds_count{model="m"} 1`
	for name, test := range map[string]struct {
		answer  answer
		want    string // in the span
		metrics []string
	}{
		"a reply": {says("one two"), usage + ` gen_ai.response.finish_reasons=["stop"] turnstone.first_token`, append(counted, first)},
		"a call":  {calling, usage + ` gen_ai.response.finish_reasons=["calls"] turnstone.first_token`, append(counted, first)},
		"a refusal": {
			answer{status: 404, body: `{"error":"model 'm' not found"}`}, " error.type=" + llm.ErrModelMissing.Error(), []string{`turnstone_model_failures_total{model="other"} 1`},
		},
		"nonsense": {answer{status: 200, body: "{nonsense"}, " error.type=" + llm.ErrFailed.Error(), []string{`turnstone_model_failures_total{model="other"} 1`}},
	} {
		t.Run(name, func(t *testing.T) {
			combinations(t, func(t *testing.T, api, upstream front.Kind, stream bool) {
				for _, record := range []bool{false, true} {
					if record && api != upstream {
						continue
					}
					s := newSeen()
					w := newWorld(t, newScripted(t, upstream, test.answer), s.watch, func(c *front.Config) { c.RecordOnly = record })
					chat := w.talk(api, stream)
					chat.history = []m{user("hi")}
					if api == front.OpenAI {
						chat.more = m{"stream_options": m{"include_usage": true}}
					}
					response := chat.open(t.Context())
					if _, err := io.Copy(io.Discard, response.Body); err != nil {
						t.Error(err)
					}
					if err := response.Body.Close(); err != nil {
						t.Error(err)
					}
					w.ended()
					chats := s.chats()
					const asked = "chat m gen_ai.operation.name=chat gen_ai.provider.name=scripted gen_ai.request.model=m"
					if len(chats) != 1 || !strings.HasPrefix(chats[0], asked) || !strings.HasSuffix(chats[0], strings.TrimSpace(test.want)) {
						t.Errorf("record only %v: %q", record, chats)
					}
					metrics := s.metrics(t)
					for _, line := range test.metrics {
						if !strings.Contains(metrics, line) {
							t.Errorf("record only %v: there is no %s", record, line)
						}
					}
				}
			})
		})
	}
}

// A client that hangs up is no failure of the server's words.
func TestHangingUpIsObserved(t *testing.T) {
	gate := make(chan struct{}, 1)
	gate <- struct{}{}
	s := newSeen()
	w := newWorld(t, newScripted(t, front.Ollama, answer{text: "one two", dies: -1, gate: gate}), s.watch)
	chat := w.talk(front.Ollama, true)
	chat.history = []m{user("hi")}
	ctx, hangUp := context.WithCancel(t.Context())
	response := chat.open(ctx)
	if _, err := response.Body.Read(make([]byte, 10)); err != nil {
		t.Error(err)
	}
	hangUp()
	if err := response.Body.Close(); err != nil {
		t.Error(err)
	}
	w.ended()
	if chats := s.chats(); len(chats) != 1 || !strings.Contains(chats[0], "error.type=cancelled") {
		t.Errorf("%q", chats)
	}
}
