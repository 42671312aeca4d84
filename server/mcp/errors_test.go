package mcp_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/server/mcp"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

func contains(text, part string) bool { return strings.Contains(text, part) }

func TestErrorsSayWhatToDo(t *testing.T) {
	w := newWorld(t, nil)
	w.compressed("a")
	for _, test := range []struct {
		tool string
		in   object
		want string
	}{
		{"remember", object{"text": "  "}, "text: is empty; say it in words"},
		{"remember", object{"text": "x", "tags": []string{""}}, "tags"},
		{"remember", object{"text": "x", "session": "no spaces"}, "session"},
		{"remember", object{}, "text: is required; give a string"},
		{"remember", nil, "text: is required; give a string"},
		{"remember", object{"text": 7}, "text: is the number 7; give a string"},
		{"remember", object{"text": nil}, "text: is null; give a string"},
		{"remember", object{"text": "x", "tags": "red"}, "tags: is a string; give a list"},
		{"remember", object{"text": "x", "tags": []any{"red", []string{}}}, "tags[1]: is a list; give a string"},
		{"remember", object{"message": "x"}, "message: unexpected property; use session, tags, text"},
		{"remember", object{"text": "x", "colour": "red", "size": 7}, "colour: unexpected property; use session, tags, text"},
		{"goals", object{"session": "a", "all": "yes"}, "all: is a string; give true or false"},
		{"search_history", object{"session": "a", "limit": 1.5}, "limit: is the number 1.5; give a whole number"},
		{"search_history", object{"session": "a", "limit": 1e300}, "limit: is the number 1e+300; give a whole number"},
		{"search_history", object{"session": "a", "limit": true}, "limit: is true; give a whole number"},
		{"set_goal", object{"session": "a", "title": 1}, "title: is the number 1; give a string"},
		{"set_goal", object{"session": "a", "title": "x", "progress": "half"}, "progress: is a string; give a number"},
		{"set_goal", object{"session": "a", "title": "x", "milestones": []string{"y"}}, "milestones[0]: is a string; give an object"},
		{"set_goal", object{"session": "a", "title": "x", "milestones": []object{{"status": "pending"}}}, "milestones[0].description: is required; give a string"},
		{"set_goal", object{"session": "a", "title": "x", "decisions": []object{{"description": "y", "lock": true}}}, "decisions[0].lock: unexpected property; use description, locked, rationale"},
		{"set_goal", object{"session": "a", "title": "x", "next_steps": object{}}, "next_steps: is an object; give a list"},
		{"recall", object{"session": "b", "query": "x"}, "call list_sessions"},
		{"recall", object{"session": "a", "query": " "}, "query: is empty"},
		{"recall", object{"session": "a", "query": "x", "scope": "world"}, `scope: "world" is no scope; use session, user or tenant`},
		{"recall", object{"session": "a", "query": "x", "limit": 101}, "limit"},
		{"search_history", object{"session": "b"}, "call list_sessions"},
		{"search_history", object{"session": "a", "regexp": "("}, "regexp"},
		{"search_history", object{"session": "a", "limit": 201}, "limit: 201 is out of range; give 1 to 200"},
		{"search_history", object{"session": "a", "limit": -1}, "give 1 to 200"},
		{"search_history", object{"session": "a", "since": "yesterday"}, "write it like 2026-01-31T12:00:00Z"},
		{"search_history", object{"session": "a", "until": "noon"}, `until: "noon" is no time`},
		{"search_history", object{"session": "a", "role": "robot"}, "role"},
		{"goals", object{"session": "b"}, "call list_sessions"},
		{"set_goal", object{"session": "a"}, "call goals for ids, or give a title to begin a goal"},
		{"set_goal", object{"session": "a", "id": "x"}, `id: there is no goal "x"`},
		{"set_goal", object{"session": "a", "title": "x", "priority": "urgent"}, "priority"},
		{"set_goal", object{"session": "a", "title": "x", "progress": 2}, "progress"},
		{"set_goal", object{"session": "a", "title": "x", "milestones": []object{{"description": "y", "status": "late"}}}, "goal: milestones[0].status: "},
		{"set_goal", object{"session": "a", "title": "x", "artifacts": []object{{"path": "p", "action": "lost"}}}, "goal: artifacts[0].action: "},
		{"prompt", object{"session": "b"}, "call list_sessions"},
		{"prompt", object{"session": "a", "format": "xml"}, "use turnstone, openai, ollama, anthropic or text"},
		{"prompt", object{"session": "a", "at": 2, "query": "x"}, "leave one of them out"},
		{"prompt", object{"session": "a", "at": 999}, "at: there is no turn 999; give one up to 81"},
		{"prompt", object{"session": "a", "format": "openai", "model": "", "context": 8192}, "model"},
		{"snapshot", object{"session": "b"}, "call list_sessions"},
		{"snapshot", object{"session": "a", "name": "two\nlines"}, "name"},
		{"undo", object{"session": "b"}, "call list_sessions"},
		{"undo", object{"session": "a", "context": 2048}, "give a model or a context with more tokens"},
		{"list_sessions", object{"status": "lost"}, "use active or ended"},
		{"list_sessions", object{"limit": 101}, "give 1 to 100"},
		{"list_sessions", object{"cursor": "x"}, "give the next of an answer"},
	} {
		text := refused(t.Context(), t, w.client, test.tool, test.in)
		if !contains(text, test.want) || contains(text, "\n") {
			t.Errorf("%s %v: %q, want %q", test.tool, test.in, text, test.want)
		}
	}
	w.say("fresh", turn.User, "hello")
	if text := refused(t.Context(), t, w.client, "undo", object{"session": "fresh"}); !contains(text, "nothing to undo") || !contains(text, "shows every turn") {
		t.Errorf("undo of nothing: %s", text)
	}
}

func TestErrorsOfTheServerGoToTheLog(t *testing.T) {
	var log bytes.Buffer
	engine := func(*http.Request) (*turnstone.Engine, error) { return nil, errors.New("the vault is locked") }
	server := listen(t, mcp.New(mcp.Config{Engine: engine, Log: slog.NewJSONHandler(&log, nil)}))
	response, err := http.Post(server.URL, "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusForbidden || contains(string(body), "vault") {
		t.Errorf("%s: %s", response.Status, body)
	}
	if !contains(log.String(), "the vault is locked") {
		t.Errorf("log: %s", &log)
	}
}

// What is wrong with the store is told, and not where it is.
func TestTheConditionOfTheStoreIsTold(t *testing.T) {
	st := faulty.New(mem.New(mem.Config{}))
	eng, err := turnstone.Open(context.WithoutCancel(t.Context()), st, turnstone.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
	w := newWorldOn(t, eng, nil)
	st.Set(func(string) error { return fmt.Errorf("%w: make room on the device of /secret/place", store.ErrFull) })
	text := refused(t.Context(), t, w.client, "remember", object{"text": "x"})
	st.Set(nil)
	if text != "no space left for the store; make room on its disk" {
		t.Errorf("%q", text)
	}
}

func TestUnknownErrorsAreNotTold(t *testing.T) {
	var log bytes.Buffer
	st := &breaking{}
	w := newWorld(t, func(c *mcp.Config) {
		eng, err := turnstone.Open(context.WithoutCancel(t.Context()), st.around(), turnstone.Config{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := eng.Close(); err != nil {
				t.Error(err)
			}
		})
		c.Engine = func(*http.Request) (*turnstone.Engine, error) { return eng, nil }
		c.Log = slog.NewJSONHandler(&log, nil)
	})
	st.broken.Store(true)
	text := refused(t.Context(), t, w.client, "list_sessions", nil)
	st.broken.Store(false)
	if contains(text, "secret-host") || !contains(text, "its log tells") {
		t.Errorf("told: %s", text)
	}
	if !contains(log.String(), "secret-host") {
		t.Errorf("log: %s", &log)
	}
}
