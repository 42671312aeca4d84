package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/turnstone-dev/turnstone/llm/llmtest"
)

// get asks for a path.
func (s *served) get(path string) string {
	s.t.Helper()
	r, err := http.Get(s.base + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %d %s %v", path, r.StatusCode, text, err)
	}
	return string(text)
}

// TestServeModelSummaries: with --model-summaries the session's model summarises what leaves the prompt, and where it fails the
// rules do; without, it is not asked.
func TestServeModelSummaries(t *testing.T) {
	var asked, broken atomic.Int64
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/chat" {
			http.NotFound(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || !strings.Contains(string(body), `"model":"gardener"`) {
			t.Errorf("asked for %.200s, %v", body, err)
		}
		asked.Add(1)
		if broken.Load() > 0 {
			http.Error(w, `{"error":"out of order"}`, http.StatusBadRequest)
			return
		}
		llmtest.Speak(w, r, ollamaLines([]string{"Lavender and thyme were found to do well by the wall."})...)
	}))
	defer upstream.Close()
	store := filepath.Join(t.TempDir(), "store.db")
	compressed := func(number, by string, want int64, args ...string) {
		t.Helper()
		before := asked.Load()
		s := serveProcess(t, store, append([]string{"--url", upstream.URL}, args...)...)
		defer s.end(os.Interrupt)
		s.post("/api/v1/sessions", `{"session_id":"garden","model":"gardener"}`)
		s.ramble()
		if status, answer := s.post("/api/v1/sessions/garden/compress", ""); status != http.StatusOK {
			t.Fatalf("compress: %d %s", status, answer)
		}
		if receipt := s.get("/api/v1/sessions/garden/checkpoints/" + number + "/receipt"); !strings.Contains(receipt, `"by":"`+by+`"`) {
			t.Errorf("pass %s: %s", number, receipt)
		}
		if more := asked.Load() - before; (more > 0) != (want > 0) {
			t.Errorf("pass %s asked the model %d times", number, more)
		}
	}
	compressed("1", "extractive", 0)
	compressed("2", "gardener", 1, "--model-summaries")
	broken.Store(1)
	compressed("3", "extractive", 1, "--model-summaries")
}
