package main

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// get asks for a path and returns what is answered.
func get(t *testing.T, url string) (status int, answer string) {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(text)
}

func TestServeIsObserved(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted there")
	}
	var mu sync.Mutex
	var spans strings.Builder
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body := io.Reader(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			unzipped, err := gzip.NewReader(r.Body)
			if err != nil {
				t.Error(err)
				return
			}
			body = unzipped
		}
		text, err := io.ReadAll(body)
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		spans.WriteString(r.URL.Path + string(text))
	}))
	t.Cleanup(collector.Close)
	upstream := httptest.NewServer((&talker{replies: []string{"Good day."}}).handler())
	t.Cleanup(upstream.Close)
	t.Setenv(envTraces, collector.URL)
	s := serveProcess(t, filepath.Join(t.TempDir(), "store.db"), "--url", upstream.URL, "--model", "small", "--access-log", "--pprof", "127.0.0.1:0")
	profiles := s.errs.find(t, `(?m)^profiles at http://(127\.0\.0\.1:\d+)/debug/pprof/$`)
	s.post("/api/v1/sessions", `{"session_id":"demo"}`)
	if status, answer := s.post("/api/v1/sessions/demo/say?", `{"text":"secret-words"}`); status != http.StatusOK {
		t.Errorf("%d %s", status, answer)
	}
	for path, want := range map[string]string{
		"/healthz": `{"status":"ok"}`, "/readyz": `{"status":"ok","checks":{"store":"ok"}}`,
		"/metrics": `turnstone_exchanges_total{status="complete"} 1`,
	} {
		if status, answer := get(t, s.base+path); status != http.StatusOK || !strings.Contains(answer, want) {
			t.Errorf("%s: %d %s", path, status, answer)
		}
	}
	if _, answer := get(t, s.base+"/metrics"); !strings.Contains(answer, `gen_ai_client_operation_time_to_first_chunk_seconds_count{gen_ai_operation_name="chat",gen_ai_provider_name="ollama",gen_ai_request_model="small"} 1`) || !strings.Contains(answer, "turnstone_exports_published") {
		t.Errorf("metrics: %s", answer)
	}
	for host, want := range map[string]int{profiles: http.StatusOK, "evil.example": http.StatusForbidden} {
		for _, url := range []string{s.base + "/metrics", "http://" + profiles + "/debug/pprof/cmdline"} {
			r, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = host
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			if answer.StatusCode != want {
				t.Errorf("%s as %s: %s", url, host, answer.Status)
			}
			if err := answer.Body.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
		&mcp.StreamableClientTransport{Endpoint: s.base + "/mcp", DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	listed, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "list_sessions"})
	if err := errors.Join(err, client.Close()); err != nil || listed.IsError {
		t.Errorf("/mcp: %v %v", err, listed)
	}
	s.end(os.Interrupt)
	says := s.errs.String()
	if !strings.Contains(says, `"route":"POST /api/v1/sessions/{session}/say"`) || strings.Contains(says, "secret-words") {
		t.Errorf("access log: %s", says)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, want := range []string{"/v1/traces", "chat small", "gen_ai.usage.input_tokens", "turn commit", "POST /api/v1/sessions/{session}/say", "service.name"} {
		if !strings.Contains(spans.String(), want) {
			t.Errorf("no %s among the spans", want)
		}
	}
}
