package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// TestRun lets the two sides answer only when both are asked: they must work side by side.
func TestRun(t *testing.T) {
	var both sync.WaitGroup
	both.Add(2)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Messages []struct{ Content string } }
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || len(asked.Messages) == 0 {
			t.Errorf("%s: %v", r.URL, err)
			return
		}
		task, reply := asked.Messages[len(asked.Messages)-1].Content, "Both are right."
		for _, side := range []string{"for", "against"} {
			if strings.HasPrefix(task, "Argue "+side+" ") {
				reply = "I am " + side + " it."
				both.Done()
				both.Wait()
			}
		}
		answer, err := json.Marshal(reply)
		if err != nil {
			t.Error(err)
		}
		fmt.Fprintf(w, `{"message":{"role":"assistant","content":%s},"done":true,"prompt_eval_count":40,"eval_count":5}`+"\n", answer)
	}))
	defer server.Close()
	t.Setenv("OLLAMA_HOST", server.URL)
	path := filepath.Join(t.TempDir(), "workers.db")
	if err := run(t.Context(), path, "Should it?"); err != nil {
		t.Fatal(err)
	}

	db, err := sqlite.Open(t.Context(), path, sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	eng, err := turnstone.Open(t.Context(), db, turnstone.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	for name, want := range map[string]string{"for": "I am for it.", "against": "I am against it.", "judge": "Both are right."} {
		chat, err := eng.Find(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		window, err := chat.Window(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(window, func(x turn.Turn) bool { return x.Role == turn.Agent && x.Content.Searchable() == want }) || len(window) != 2 {
			t.Errorf("the session of %s has %d turns and no %q", name, len(window), want)
		}
		if name == "judge" && !strings.Contains(window[0].Content.Searchable(), "against: I am against it.") {
			t.Errorf("the judge heard %s", window[0].Content.Searchable())
		}
	}
}
