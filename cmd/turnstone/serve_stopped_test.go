//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/turn"
)

// countingServer is a model server that counts, ten numbers a second, and says Yes. to who asks whether it is there.
func countingServer(t *testing.T) string {
	mux := http.NewServeMux()
	mux.Handle("/", (&talker{}).handler())
	mux.HandleFunc("POST /api/chat", func(w http.ResponseWriter, r *http.Request) {
		asked, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		say := func(text string, done bool) error {
			_, err := fmt.Fprintf(w, `{"model":"small","message":{"role":"assistant","content":%q},"done":%v,"done_reason":"stop"}`+"\n", text, done)
			http.NewResponseController(w).Flush()
			return err
		}
		if strings.Contains(string(asked), "Are you there?") {
			say("Yes.", true)
			return
		}
		for n := 1; n < 1000 && r.Context().Err() == nil; n++ {
			if say(fmt.Sprint(n, " "), false) != nil {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		say("", true)
	})
	upstream := httptest.NewServer(mux)
	t.Cleanup(upstream.Close)
	return upstream.URL
}

// TestTortureStopped stops a server in the middle of its replies for longer than a lease holds, while another takes the
// sessions over. What its clients are told when it goes on is nothing but that it lost them.
func TestTortureStopped(t *testing.T) {
	if os.Getenv("TURNSTONE_TORTURE") == "" {
		t.Skip("it takes as long as a lease holds; TestNothingIsToldWithoutTheLease stands for it")
	}
	t.Parallel()
	store, upstream := filepath.Join(t.TempDir(), "store.db"), countingServer(t)
	one := serveProcess(t, store, "--url", upstream, "--model", "small")
	two := serveProcess(t, store, "--url", upstream, "--model", "small")
	type stream struct {
		lines *bufio.Reader
		body  io.Closer
	}
	open := func(path, body string) stream {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, one.base+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "text/event-stream")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(answer.Body)
		for line := ""; !strings.Contains(line, "5 "); {
			if line, err = lines.ReadString('\n'); err != nil {
				t.Fatalf("%s: %d %v", path, answer.StatusCode, err)
			}
		}
		return stream{lines, answer.Body}
	}
	one.post("/api/v1/sessions", `{"session_id":"talk"}`)
	streams := map[string]stream{
		"say":    open("/api/v1/sessions/talk/say", `{"text":"Count."}`),
		"OpenAI": open("/v1/chat/completions", `{"model":"small","stream":true,"messages":[{"role":"user","content":"Count."}]}`),
		"Ollama": open("/api/chat", `{"model":"small","messages":[{"role":"user","content":"Count for Ollama."}]}`),
	}
	time.Sleep(2 * time.Second) // so that it is written down
	if err := one.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(turn.LeaseTime + time.Second)
	var sessions struct {
		Items []struct {
			ID string `json:"session_id"`
		}
	}
	_, list := get(t, two.base+"/api/v1/sessions")
	if err := json.Unmarshal([]byte(list), &sessions); err != nil || len(sessions.Items) != len(streams) {
		t.Fatalf("%v %s", err, list)
	}
	for _, s := range sessions.Items {
		if status, answer := two.post("/api/v1/sessions/"+s.ID+"/say", `{"text":"Are you there?"}`); status != http.StatusOK {
			t.Fatalf("%d %s", status, answer)
		}
	}
	if err := one.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	for name, s := range streams {
		rest, err := io.ReadAll(s.lines)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := s.body.Close(); err != nil {
			t.Error(err)
		}
		// At ten a second it had come to about 25 when it was stopped.
		if strings.Contains(string(rest), "60 ") || !strings.Contains(string(rest), "the lease was lost") {
			t.Errorf("%s was told %s", name, rest)
		}
	}
	one.end(os.Interrupt)
	two.end(os.Interrupt)
	mustRun(t, store, "doctor")
}
