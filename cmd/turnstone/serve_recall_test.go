package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/turnstone-dev/turnstone/llm/llmtest"
)

// remembers is an Ollama that keeps what it was asked last on each path.
type remembers struct {
	mu    sync.Mutex // guards asked
	asked map[string]string
}

func (m *remembers) last(path string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked[path]
}

func (m *remembers) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.asked)
}

func (m *remembers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	m.mu.Lock()
	m.asked[r.URL.Path] = string(body)
	m.mu.Unlock()
	switch r.URL.Path {
	case "/api/chat":
		llmtest.Speak(w, r, ollamaLines([]string{"There."})...)
	case "/api/embed":
		var sent struct{ Input []string }
		if err := json.Unmarshal(body, &sent); err != nil {
			panic(http.ErrAbortHandler)
		}
		fmt.Fprintf(w, `{"embeddings":[%s[1]]}`, strings.Repeat("[1],", len(sent.Input)-1))
	default:
		http.NotFound(w, r)
	}
}

// TestServeRecalls: with --recall what left the prompt is shown again where it is asked about, to those who say something and
// to clients of model servers; --embed-model is asked what it means, and --context is how large a prompt is.
func TestServeRecalls(t *testing.T) {
	const recalled = "[Recalled from turn 1, said by the user"
	model := &remembers{asked: map[string]string{}}
	upstream := httptest.NewServer(model)
	defer upstream.Close()
	talk := []string{`{"role":"user","content":"Where did you put my spare key?"}`, `{"role":"assistant","content":"It lies under the third flowerpot."}`}
	for i := range 240 {
		talk = append(talk, fmt.Sprintf(`{"role":"user","content":"Question %d?"}`, i),
			fmt.Sprintf(`{"role":"assistant","content":"Answer %d, and some more words to fill the window."}`, i))
	}
	for _, on := range []bool{true, false} {
		dir := t.TempDir()
		file := filepath.Join(dir, "config.toml")
		if err := os.WriteFile(file, []byte(fmt.Sprintf("[serve]\ncontext = 4096\nrecall = %t\nembed-model = \"nomic\"\n", on)), 0o600); err != nil {
			t.Fatal(err)
		}
		s := serveProcess(t, filepath.Join(dir, "store.db"), "--config", file, "--url", upstream.URL)
		call := func(messages ...string) string {
			t.Helper()
			status, answer := s.post("/api/chat", `{"model":"gardener","messages":[`+strings.Join(messages, ",")+`]}`)
			if status != http.StatusOK {
				t.Fatalf("%d %s", status, answer)
			}
			return model.last("/api/chat")
		}
		hello := `{"role":"user","content":"Hello."}`
		if sent := call(append(talk, hello)...); strings.Contains(sent, recalled) || !strings.Contains(sent, `"num_ctx":3482`) {
			t.Errorf("the first prompt: %.300s", sent)
		}
		ask := `{"role":"user","content":"Where is the spare key?"}`
		if sent := call(append(talk, hello, `{"role":"assistant","content":"There."}`, ask)...); strings.Contains(sent, recalled) != on {
			t.Errorf("recall %t, a client's prompt: %s", on, sent[max(0, len(sent)-800):])
		}
		var list struct {
			Items []struct {
				ID string `json:"session_id"`
			}
		}
		if err := json.Unmarshal([]byte(s.get("/api/v1/sessions")), &list); err != nil || len(list.Items) != 1 {
			t.Fatalf("%v, %v", list, err)
		}
		status, answer := s.post("/api/v1/sessions/"+list.Items[0].ID+"/say", `{"text":"Where is the spare key, you said?","model":"gardener"}`)
		if sent := model.last("/api/chat"); status != http.StatusOK || strings.Contains(sent, recalled) != on || !strings.Contains(sent, `"num_ctx":3482`) {
			t.Errorf("recall %t, %d %s: %s", on, status, answer, sent[max(0, len(sent)-800):])
		}
		if asked := model.last("/api/embed"); on != strings.Contains(asked, `"model":"nomic"`) {
			t.Errorf("recall %t, for embeddings: %.300s", on, asked)
		}
		s.end(os.Interrupt)
		model.forget()
	}
}
