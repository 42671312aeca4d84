package observe_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/server"
	"github.com/turnstone-dev/turnstone/server/observe"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// world is a server that is observed, and what is seen of it.
type world struct {
	t        *testing.T
	observer *observe.Observer
	engine   *turnstone.Engine
	store    *looked
	base     string
	log      *bytes.Buffer
	spans    *tracetest.SpanRecorder
}

func newWorld(t *testing.T, model llm.Model) *world {
	t.Helper()
	w := &world{t: t, log: new(bytes.Buffer), spans: tracetest.NewSpanRecorder()}
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(w.spans)).Tracer("test")
	w.observer = observe.New(observe.Config{Tracer: tracer, Access: slog.NewJSONHandler(w.log, nil)})
	config := turnstone.Config{Observe: w.observer.Committed, Tracer: tracer}
	if model != nil {
		config.Model = w.observer.Model("small", "scripted", model)
	}
	st := &looked{Store: mem.New(mem.Config{})}
	w.store = st
	var err error
	if w.engine, err = turnstone.Open(t.Context(), st, config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.engine.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(w.observer.Watch(context.WithValue(t.Context(), watching{}, true), w.engine, st.Generation))
	s, err := server.New(server.Config{Engine: w.engine, Observe: w.observer.Middleware, Open: map[string]http.Handler{
		"GET /metrics": w.observer.Metrics(),
		"GET /flushed": http.HandlerFunc(flushed),
		"POST /broken": http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }),
	}})
	if err != nil {
		t.Fatal(err)
	}
	listener := httptest.NewServer(s.Handler())
	t.Cleanup(listener.Close)
	w.base = listener.URL
	return w
}

// looked is a store that counts how often it is looked at for metrics.
type looked struct {
	*mem.Store
	looks atomic.Int64
}

// watching marks the context of those looks.
type watching struct{}

// View implements [store.Store].
func (s *looked) View(ctx context.Context, fn func(store.Tx) error) error {
	if ctx.Value(watching{}) != nil {
		s.looks.Add(1)
	}
	return s.Store.View(ctx, fn)
}

// flushed streams two pieces, by both ways to flush.
func flushed(w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusAccepted)
	for _, flush := range []func() error{
		func() error { return http.NewResponseController(w).Flush() },
		func() error { w.(http.Flusher).Flush(); return nil },
	} {
		if _, err := io.WriteString(w, "piece"); err != nil {
			return
		}
		if err := flush(); err != nil {
			panic(err)
		}
	}
}

func (w *world) do(method, path, body string, header http.Header) (int, string) {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), method, w.base+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	for name, values := range header {
		request.Header[name] = values
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	text, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		w.t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// measured asks for the metrics, which must hold these lines.
func (w *world) measured(lines ...string) {
	w.t.Helper()
	_, text := w.do(http.MethodGet, "/metrics", "", nil)
	for _, line := range lines {
		if !strings.Contains("\n"+text, "\n"+line) {
			name, _, _ := strings.Cut(line, "{")
			var near []string
			for have := range strings.Lines(text) {
				if strings.HasPrefix(have, strings.Fields(name)[0]) {
					near = append(near, have)
				}
			}
			w.t.Errorf("there is no %q; there is\n%s", line, strings.Join(near, ""))
		}
	}
}

// scripted is a model that says chunks and ends with an error, if there is one.
type scripted struct {
	chunks []llm.Chunk
	err    error
}

func (s scripted) Stream(context.Context, llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		for _, c := range s.chunks {
			if !yield(c, nil) {
				return
			}
		}
		if s.err != nil {
			yield(llm.Chunk{}, s.err)
		}
	}
}

func TestRequestsAreCounted(t *testing.T) {
	w := newWorld(t, nil)
	w.do(http.MethodPost, "/api/v1/sessions", `{"session_id":"a"}`, nil)
	w.do(http.MethodGet, "/api/v1/sessions/a", "", nil)
	w.do(http.MethodGet, "/api/v1/sessions/b", "", nil)
	w.do(http.MethodGet, "/nowhere/4711", "", nil)
	if status, text := w.do(http.MethodGet, "/flushed", "", nil); status != http.StatusAccepted || text != "piecepiece" {
		t.Errorf("%d %s", status, text)
	}
	w.do(http.MethodPost, "/broken", "", nil)
	w.measured(
		`turnstone_http_requests_total{route="POST /api/v1/sessions",status="201"} 1`,
		`turnstone_http_requests_total{route="GET /api/v1/sessions/{session}",status="200"} 1`,
		`turnstone_http_requests_total{route="GET /api/v1/sessions/{session}",status="404"} 1`,
		`turnstone_http_requests_total{route="none",status="404"} 1`,
		`turnstone_http_requests_total{route="GET /flushed",status="202"} 1`,
		`turnstone_http_requests_total{route="POST /broken",status="500"} 1`,
		`turnstone_http_request_seconds_count{route="GET /api/v1/sessions/{session}"} 2`,
		`turnstone_http_requests_in_flight 1`, // this one
		`go_goroutines `, `process_`,
	)
}

func TestExchangesAndTokensAreCounted(t *testing.T) {
	w := newWorld(t, scripted{chunks: []llm.Chunk{
		{Text: "Good "}, {Text: "day."}, {Stop: llm.StopEnd, Usage: llm.Usage{Prompt: 100, Cached: 60, Answer: 7}},
	}})
	s, err := w.engine.Session(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := s.Say(t.Context(), "hello"); err != nil {
			t.Fatal(err)
		}
	}
	w.measured(
		`turnstone_exchanges_total{status="complete"} 2`,
		`turnstone_commit_seconds_count 2`,
		`gen_ai_client_token_usage_sum{gen_ai_operation_name="chat",gen_ai_provider_name="scripted",gen_ai_request_model="small",gen_ai_token_type="input"} 200`,
		`gen_ai_client_token_usage_sum{gen_ai_operation_name="chat",gen_ai_provider_name="scripted",gen_ai_request_model="small",gen_ai_token_type="output"} 14`,
		`gen_ai_client_token_usage_bucket{gen_ai_operation_name="chat",gen_ai_provider_name="scripted",gen_ai_request_model="small",gen_ai_token_type="input",le="64"} 0`,
		`gen_ai_client_token_usage_bucket{gen_ai_operation_name="chat",gen_ai_provider_name="scripted",gen_ai_request_model="small",gen_ai_token_type="input",le="256"} 2`,
		`gen_ai_client_operation_time_to_first_chunk_seconds_count{gen_ai_operation_name="chat",gen_ai_provider_name="scripted",gen_ai_request_model="small"} 2`,
		`gen_ai_client_operation_duration_seconds_count{error_type="",gen_ai_operation_name="chat",gen_ai_provider_name="scripted",gen_ai_request_model="small"} 2`,
	)
}

func TestFailuresOfModelsAreCounted(t *testing.T) {
	w := newWorld(t, scripted{chunks: []llm.Chunk{{Text: "Go"}}, err: &llm.Error{Kind: llm.ErrFailed, Model: "small", Problem: "secret-words"}})
	s, err := w.engine.Session(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Say(t.Context(), "hello"); err == nil {
		t.Error("a model that fails is no error")
	}
	w.measured(`gen_ai_client_operation_duration_seconds_count{error_type="failed",gen_ai_operation_name="chat",gen_ai_provider_name="scripted",gen_ai_request_model="small"} `, `turnstone_exchanges_total{status="interrupted"} 1`)
	for _, span := range w.spans.Ended() {
		if strings.HasPrefix(span.Name(), "chat") && (span.Status().Description != "failed" || attributeOf(span, "error.type") != "failed") {
			t.Errorf("%s: %+v %v", span.Name(), span.Status(), span.Attributes())
		}
		if strings.HasPrefix(span.Name(), "chat") && strings.Contains(fmt.Sprint(span.Attributes(), span.Status(), span.Events()), "secret-words") {
			t.Errorf("the span holds the words of the error: %v", span)
		}
	}
}

// Clients say which model they want. What they make up is no label: there would be no end of them, and everybody sees them.
func TestModelsThatNeverAnsweredHaveNoLabel(t *testing.T) {
	w := newWorld(t, nil)
	ask := func(name string, m scripted) {
		for range w.observer.Model(name, "scripted", m).Stream(t.Context(), llm.Request{}) {
		}
	}
	ask("made-up", scripted{err: &llm.Error{Kind: llm.ErrModelMissing}})
	for i := range 200 {
		ask(fmt.Sprintf("model-%d", i), scripted{chunks: []llm.Chunk{{Text: "Go"}, {Stop: llm.StopEnd}}})
	}
	ask("model-0", scripted{err: &llm.Error{Kind: llm.ErrFailed}})
	w.measured(
		`gen_ai_client_operation_duration_seconds_count{error_type="model_missing",gen_ai_operation_name="chat",gen_ai_provider_name="scripted",gen_ai_request_model="other"} 1`,
		`gen_ai_client_operation_duration_seconds_count{error_type="failed",gen_ai_operation_name="chat",gen_ai_provider_name="scripted",gen_ai_request_model="model-0"} 1`,
		`gen_ai_client_operation_time_to_first_chunk_seconds_count{gen_ai_operation_name="chat",gen_ai_provider_name="scripted",gen_ai_request_model="other"} 100`,
		`gen_ai_client_operation_time_to_first_chunk_seconds_count{gen_ai_operation_name="chat",gen_ai_provider_name="scripted",gen_ai_request_model="model-99"} 1`,
	)
	if _, text := w.do(http.MethodGet, "/metrics", "", nil); strings.Contains(text, "made-up") || strings.Contains(text, "model-100") {
		t.Error(text)
	}
}

func attributeOf(span sdktrace.ReadOnlySpan, name attribute.Key) string {
	for _, a := range span.Attributes() {
		if a.Key == name {
			return a.Value.String()
		}
	}
	return ""
}

func TestPassesAndTheStoreAreSeen(t *testing.T) {
	w := newWorld(t, nil)
	for i := range 40 {
		body := fmt.Sprintf(`{"turns":[{"role":"user","text":"Question %d"},{"role":"agent","text":"Answer %d: %s"}]}`, i, i, strings.Repeat("the harbour has cranes. ", 30))
		if status, text := w.do(http.MethodPost, "/api/v1/sessions/a/turns?create=true", body, nil); status != http.StatusCreated {
			t.Fatalf("%d %s", status, text)
		}
	}
	s, err := w.engine.Find(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Prompt(t.Context(), turnstone.PromptOptions{Context: 8192}); err != nil {
		t.Fatal(err)
	}
	w.measured(`turnstone_exports_published 0`, `turnstone_deferrals 0`, `turnstone_store_generation `)
	w.another("other")
	w.measured(`turnstone_deferrals 1`)
	// Closing the engine tells its listeners what they have not heard yet.
	if err := w.engine.Close(); err != nil {
		t.Fatal(err)
	}
	w.measured(`turnstone_compression_passes_total 1`, `turnstone_events_total{kind="compressed"} 1`, `turnstone_events_total{kind="snapshot-created"} 1`)
	if _, text := w.do(http.MethodGet, "/metrics", "", nil); strings.Contains(text, "turnstone_exports_published") {
		t.Error("a store that is closed has a last export")
	}
}

// A server with many tenants is not asked more of whenever it is measured.
func TestMetricsCostTheSameForManyTenants(t *testing.T) {
	w := newWorld(t, nil)
	looks := func() int64 {
		before := w.store.looks.Load()
		w.do(http.MethodGet, "/metrics", "", nil)
		return w.store.looks.Load() - before
	}
	before := looks()
	for i := range 5 {
		w.another(fmt.Sprint("other", i))
	}
	w.measured(`turnstone_deferrals 5`)
	if after := looks(); before == 0 || after != before {
		t.Errorf("%d looks at the store for five tenants more, %d before", after, before)
	}
}

// another has something happen at another tenant, and something be put off there.
func (w *world) another(tenant string) {
	w.t.Helper()
	other, err := w.engine.ForTenant(tenant)
	if err != nil {
		w.t.Fatal(err)
	}
	s, err := other.Session(w.t.Context(), "theirs")
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := s.Append(w.t.Context(), turn.Draft{Role: turn.User, Content: turn.Text{Text: "Hello."}}); err != nil {
		w.t.Fatal(err)
	}
	if _, err := s.Snapshot(w.t.Context(), "now"); err != nil {
		w.t.Fatal(err)
	}
	err = w.store.Update(w.t.Context(), func(tx store.Tx) error {
		return tx.Outbox().PutDeferral(w.t.Context(), event.Deferral{
			ExportID: "01JBBBBBBBBBBBBBBBBBBBBBBB", Tenant: tenant, Session: "theirs", Target: "history", Payload: "{}",
			Tries: 1, At: tx.Now(), Next: tx.Now().Add(time.Hour),
		})
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestAccessLogHoldsNoSecrets(t *testing.T) {
	w := newWorld(t, nil)
	const secret = "ts_4711_hunter2"
	header := http.Header{"Authorization": {"Bearer " + secret}, "Cookie": {"k=" + secret}, "X-Request-Id": {"my-request.1"}}
	w.do(http.MethodPost, "/api/v1/sessions?token="+secret, `{"session_id":"a","title":"`+secret+`"}`, header)
	w.do(http.MethodGet, "/api/v1/sessions?limit="+secret, "", header)
	w.do(http.MethodPost, "/api/v1/sessions", `{"session_id":"a","title":"`+secret+`"}`, header)
	w.do(http.MethodGet, "/"+strings.Repeat("x", 3000), "", nil)
	text := w.log.String()
	if strings.Contains(text, secret) || strings.Contains(text, "hunter2") {
		t.Errorf("the log holds a secret:\n%s", text)
	}
	if lines := strings.Count(text, "\n"); lines != 4 {
		t.Errorf("%d lines:\n%s", lines, text)
	}
	for _, want := range []string{`"request_id":"my-request.1"`, `"method":"POST"`, `"route":"POST /api/v1/sessions"`, `"path":"/api/v1/sessions"`, `"status":201`, `"remote":"127.0.0.1"`, `"seconds":`, `"tenant":`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if len(text) > 4000 {
		t.Errorf("a path of 3,000 bytes made the log %d bytes long", len(text))
	}
	for _, span := range w.spans.Ended() {
		if strings.Contains(fmt.Sprint(span.Name(), span.Attributes(), span.Events(), span.Status()), "hunter2") {
			t.Errorf("a span holds a secret: %v", span)
		}
	}
	if _, metrics := w.do(http.MethodGet, "/metrics", "", nil); strings.Contains(metrics, "hunter2") {
		t.Error("the metrics hold a secret")
	}
}

func TestSpans(t *testing.T) {
	w := newWorld(t, scripted{chunks: []llm.Chunk{{Text: "Hi."}, {Stop: llm.StopEnd, Usage: llm.Usage{Prompt: 100, Cached: 60, Answer: 7}}}})
	const trace = "0af7651916cd43dd8448eb211c80319c"
	w.do(http.MethodPost, "/api/v1/sessions", `{"session_id":"a"}`, http.Header{"Traceparent": {"00-" + trace + "-b7ad6b7169203331-01"}})
	if status, text := w.do(http.MethodPost, "/api/v1/sessions/a/say", `{"text":"hello"}`, nil); status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	byName := map[string]sdktrace.ReadOnlySpan{}
	for _, span := range w.spans.Ended() {
		byName[span.Name()] = span
	}
	create, said, chat := byName["POST /api/v1/sessions"], byName["POST /api/v1/sessions/{session}/say"], byName["chat small"]
	if create == nil || said == nil || chat == nil || byName["turn commit"] == nil {
		t.Fatalf("spans: %v", byName)
	}
	if create.SpanContext().TraceID().String() != trace || attributeOf(create, "http.response.status_code") != "201" || attributeOf(create, "http.request.method") != "POST" || attributeOf(create, "turnstone.request_id") == "" ||
		attributeOf(create, "http.route") != "/api/v1/sessions" || attributeOf(create, "url.path") != "/api/v1/sessions" || attributeOf(create, "url.scheme") != "http" || attributeOf(create, "client.address") != "127.0.0.1" {
		t.Errorf("created: %v %v", create.SpanContext().TraceID(), create.Attributes())
	}
	if chat.SpanContext().TraceID() != said.SpanContext().TraceID() {
		t.Error("the call of the model is not part of the request's trace")
	}
	for name, want := range map[attribute.Key]string{
		"gen_ai.operation.name": "chat", "gen_ai.provider.name": "scripted", "gen_ai.request.model": "small",
		"gen_ai.usage.input_tokens": "100", "gen_ai.usage.output_tokens": "7", "gen_ai.usage.cache_read.input_tokens": "60",
		"gen_ai.response.finish_reasons": `["stop"]`, "gen_ai.conversation.id": "a",
	} {
		if got := attributeOf(chat, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if attributeOf(chat, "gen_ai.request.max_tokens") == "" || len(chat.Events()) != 1 {
		t.Errorf("chat: %v %v", chat.Attributes(), chat.Events())
	}
}

// Whatever bytes a path is made of, its span is text: an exporter drops all spans that it sends with one that is none.
func TestPathsThatAreNoText(t *testing.T) {
	w := newWorld(t, nil)
	for path, want := range map[string]string{
		"/%ff": "/\ufffd", "/%C3%A9": "/é",
		"/" + strings.Repeat("a", 254) + "%C3%A9": "/" + strings.Repeat("a", 254) + "…",
	} {
		begun := len(w.spans.Ended())
		w.observer.Middleware(http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil))
		var shown []string
		for _, span := range w.spans.Ended()[begun:] {
			for _, a := range span.Attributes() {
				if a.Key == "url.path" {
					shown = append(shown, a.Value.AsString())
				}
			}
		}
		if len(shown) != 1 || shown[0] != want {
			t.Errorf("%s is shown as %q", path, shown)
		}
	}
}
