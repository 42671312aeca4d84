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
	const usage = " gen_ai.usage.input_tokens=7 gen_ai.usage.cache_read.input_tokens=0 gen_ai.usage.output_tokens=3 turnstone.first_token"
	const labels = `gen_ai_operation_name="chat",gen_ai_provider_name="scripted",gen_ai_request_model="m"`
	counted := []string{
		`gen_ai_client_token_usage_sum{` + labels + `,gen_ai_token_type="input"} 7`, `gen_ai_client_token_usage_sum{` + labels + `,gen_ai_token_type="output"} 3`,
		`gen_ai_client_operation_time_to_first_chunk_seconds_count{` + labels + `} 1`, `gen_ai_client_operation_duration_seconds_count{error_type="",` + labels + `} 1`,
	}
	failed := func(kind string) []string {
		return []string{`gen_ai_client_operation_duration_seconds_count{error_type="` + kind + `",` + strings.Replace(labels, `"m"`, `"other"`, 1) + `} 1`}
	}
	for name, test := range map[string]struct {
		answer  answer
		want    string // in the span
		metrics []string
	}{
		"a reply":   {says("one two"), ` gen_ai.response.finish_reasons=["stop"]` + usage, counted},
		"a call":    {calling, ` gen_ai.response.finish_reasons=["tool_calls"]` + usage, counted},
		"a refusal": {answer{status: 404, body: `{"error":"model 'm' not found"}`}, " error.type=model_missing", failed("model_missing")},
		"nonsense":  {answer{status: 200, body: "{nonsense"}, " error.type=failed", failed("failed")},
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
