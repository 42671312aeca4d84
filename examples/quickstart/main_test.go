package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// TestRun talks to a server that answers as Ollama does: first it calls the tool, then it replies.
func TestRun(t *testing.T) {
	answers := []string{
		`{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"find_order","arguments":{"number":61}}}]},"done":true,"prompt_eval_count":90,"eval_count":9}`,
		`{"message":{"role":"assistant","content":"It is on its way."},"done":true,"prompt_eval_count":120,"eval_count":6}`,
	}
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/chat" || asked == len(answers) {
			t.Errorf("request %d: %s", asked, r.URL)
			return
		}
		fmt.Fprintln(w, answers[asked])
		asked++
	}))
	defer server.Close()
	t.Setenv("OLLAMA_HOST", server.URL)
	path := filepath.Join(t.TempDir(), "agent.db")
	if err := run(t.Context(), path, "Where is my order 61?"); err != nil {
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
	chat, err := eng.Find(t.Context(), "alice")
	if err != nil {
		t.Fatal(err)
	}
	turns, err := chat.History(t.Context(), turn.HistoryOptions{Turns: 10})
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, x := range turns {
		said = append(said, string(x.Role)+": "+x.Content.Searchable())
	}
	all := strings.Join(said, "\n")
	for _, want := range []string{"user: Where is my order 61?", "order 61 is on its way", "agent: It is on its way."} {
		if !strings.Contains(all, want) {
			t.Errorf("the log has no %q:\n%s", want, all)
		}
	}
}
