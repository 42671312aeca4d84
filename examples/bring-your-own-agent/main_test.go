package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// TestRun runs the loop against a server that answers as Ollama does.
func TestRun(t *testing.T) {
	var asked struct {
		Model   string
		Options struct {
			Window int `json:"num_ctx"`
		}
		Messages []struct{ Role, Content string }
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || r.URL.Path != "/api/chat" {
			t.Errorf("%s: %v", r.URL, err)
		}
		fmt.Fprintln(w, `{"message":{"role":"assistant","content":"5433. "},"done":false}`)
		fmt.Fprintln(w, `{"message":{"role":"assistant","content":"And welcome to Oslo!"},"done":true,"prompt_eval_count":47,"eval_count":9}`)
	}))
	defer server.Close()
	path := filepath.Join(t.TempDir(), "own-agent.db")
	if err := run(t.Context(), path, server.URL, message); err != nil {
		t.Fatal(err)
	}
	if asked.Model != model || asked.Options.Window != 6963 || len(asked.Messages) != 2 {
		t.Fatalf("the model was asked %+v", asked)
	}
	if !strings.Contains(asked.Messages[0].Content, "Answer in one sentence.") || asked.Messages[1].Content != "I moved to Oslo. Which port did we choose?" {
		t.Errorf("the model was asked %+v", asked.Messages)
	}
	if got := replies(t, path); got != "5433. And welcome to Oslo!" {
		t.Errorf("the log has %q", got)
	}
}

// replies is what the agent said, as the log has it.
func replies(t *testing.T, path string) (said string) {
	opened(t, path, func(eng *turnstone.Engine) {
		chat, err := eng.Find(t.Context(), "own-agent")
		if err != nil {
			t.Fatal(err)
		}
		page, err := chat.Query(t.Context(), turn.Query{Role: turn.Agent})
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range page.Turns {
			said += one.Content.Searchable()
		}
	})
	return said
}

// opened does something with the engine of a file.
func opened(t *testing.T, path string, do func(*turnstone.Engine)) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	eng, err := turnstone.Open(t.Context(), db, turnstone.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	}()
	do(eng)
}

// TestBacklog: what was left for the daemon holds nobody up, and is not taken for the exchange of this run.
func TestBacklog(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, `{"message":{"role":"assistant","content":"5433."},"done":true,"prompt_eval_count":47,"eval_count":9}`)
	}))
	defer server.Close()
	path := filepath.Join(t.TempDir(), "own-agent.db")
	if err := run(t.Context(), path, server.URL, message); err != nil {
		t.Fatal(err)
	}
	opened(t, path, func(eng *turnstone.Engine) {
		chat, err := eng.Find(t.Context(), "own-agent")
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			_, err := chat.Commit(t.Context(), commit.Exchange{Turns: []turn.Draft{
				{Role: turn.User, Content: turn.Text{Text: "Anything new?"}}, {Role: turn.Agent, Content: turn.Text{Text: "No."}},
			}})
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := eng.Publish(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	again := make(chan error, 1)
	go func() { again <- run(t.Context(), path, server.URL, "message-2") }()
	select {
	case err := <-again:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the agent waits for ever")
	}
	opened(t, path, func(eng *turnstone.Engine) {
		marks, last, err := eng.Daemons(t.Context())
		if err != nil || len(marks) != 1 || marks[0].Through != last || last != 5 {
			t.Errorf("the daemon has handled %+v of %d: %v", marks, last, err)
		}
	})
}

// TestKilledBeforeTheDaemon: a run that ended between the commit and its daemon is made good by the next.
func TestKilledBeforeTheDaemon(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, `{"message":{"role":"assistant","content":"5433."},"done":true,"prompt_eval_count":47,"eval_count":9}`)
	}))
	defer server.Close()
	path := filepath.Join(t.TempDir(), "own-agent.db")
	opened(t, path, func(eng *turnstone.Engine) {
		chat, err := eng.Session(t.Context(), "own-agent")
		if err != nil {
			t.Fatal(err)
		}
		sub, err := eng.Subscribe(t.Context(), profile, func(context.Context, event.Message) (int, error) { return 0, nil }, bus.Options{})
		if err != nil || sub.Close() != nil {
			t.Fatal(err)
		}
		input, err := chat.Append(t.Context(), turn.Draft{
			IdempotencyKey: message, Role: turn.User, Content: turn.Text{Text: "I moved to Oslo. Which port did we choose?"},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := answer(t.Context(), chat, server.URL, input[0].ID); err != nil {
			t.Fatal(err)
		}
	})
	if err := run(t.Context(), path, server.URL, message); err != nil {
		t.Fatal(err)
	}
	opened(t, path, func(eng *turnstone.Engine) {
		marks, last, err := eng.Daemons(t.Context())
		if err != nil || len(marks) != 1 || marks[0].Through != last || last != 1 {
			t.Errorf("the daemon has handled %+v of %d: %v", marks, last, err)
		}
	})
}

// TestNoModel: without a model there is an error, and what the user said stays.
func TestNoModel(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	err := run(t.Context(), filepath.Join(t.TempDir(), "own-agent.db"), server.URL, message)
	if err == nil || !strings.Contains(err.Error(), "/api/chat: 404 Not Found") {
		t.Errorf("got %v", err)
	}
}

// TestNoServer: who has no server is told what to do.
func TestNoServer(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	err := run(t.Context(), filepath.Join(t.TempDir(), "own-agent.db"), server.URL, message)
	if err == nil || !strings.Contains(err.Error(), "start one with `ollama serve`, or name another in OLLAMA_HOST") {
		t.Errorf("got %v", err)
	}
}

// TestTwice: the same message again is neither answered nor remembered twice; one that was not answered is answered then.
func TestTwice(t *testing.T) {
	asked, down := 0, true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if down {
			http.Error(w, "loading", http.StatusServiceUnavailable)
			return
		}
		asked++
		fmt.Fprintln(w, `{"message":{"role":"assistant","content":"5433."},"done":true,"prompt_eval_count":47,"eval_count":9}`)
	}))
	defer server.Close()
	path := filepath.Join(t.TempDir(), "own-agent.db")
	if err := run(t.Context(), path, server.URL, message); err == nil {
		t.Fatal("a model that is not there answered")
	}
	down = false
	for range 3 {
		if err := run(t.Context(), path, server.URL, message); err != nil {
			t.Fatal(err)
		}
	}
	if asked != 1 {
		t.Errorf("the model was asked %d times", asked)
	}
	opened(t, path, func(eng *turnstone.Engine) {
		chat, err := eng.Find(t.Context(), "own-agent")
		if err != nil {
			t.Fatal(err)
		}
		page, err := chat.Query(t.Context(), turn.Query{Kind: turn.KindTurn})
		if err != nil || len(page.Turns) != 2 {
			t.Errorf("the log has %d turns, want the message and its answer: %v", len(page.Turns), err)
		}
		known, err := eng.Remembered(t.Context(), memory.Search{})
		if err != nil || len(known.Items) != 1 {
			t.Errorf("%d items are remembered, want 1: %v", len(known.Items), err)
		}
	})
}
