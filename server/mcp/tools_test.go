package mcp_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/server/mcp"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestToolsAreDescribed(t *testing.T) {
	w := newWorld(t, nil)
	list, err := w.client.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	reads := map[string]bool{}
	for _, tool := range list.Tools {
		reads[tool.Name] = tool.Annotations.ReadOnlyHint
		if tool.Description == "" || tool.Title == "" || tool.Annotations.OpenWorldHint == nil || *tool.Annotations.OpenWorldHint {
			t.Errorf("%s is described as %+v", tool.Name, tool)
		}
		if !tool.Annotations.ReadOnlyHint && (tool.Annotations.DestructiveHint == nil || *tool.Annotations.DestructiveHint) {
			t.Errorf("%s is said to destroy", tool.Name)
		}
		input := tool.InputSchema.(object)
		if input["additionalProperties"] == nil {
			t.Errorf("%s takes unknown fields", tool.Name)
		}
		for name, property := range input["properties"].(object) {
			if at(t, property, "description") == nil {
				t.Errorf("%s: %s has no description", tool.Name, name)
			}
		}
		if at(t, tool.OutputSchema, "properties") == nil {
			t.Errorf("%s does not say what it answers", tool.Name)
		}
	}
	want := map[string]bool{
		"remember": false, "recall": true, "search_history": true, "goals": true, "set_goal": false, "prompt": false,
		"snapshot": false, "undo": false, "list_sessions": true,
	}
	if diff := cmp.Diff(want, reads); diff != "" {
		t.Error(diff)
	}
}

func TestRememberAndRecall(t *testing.T) {
	w := newWorld(t, nil)
	answer := w.call("remember", object{"text": "  Alice likes window seats.  ", "tags": []string{"preference"}})
	if got := at(t, answer, "items", 0, "text"); got != "Alice likes window seats." {
		t.Errorf("remembered %q", got)
	}
	if at(t, answer, "session_id") != mcp.DefaultSession || at(t, answer, "items", 0, "type") != "user_data" || at(t, answer, "items", 0, "tags", 0) != "preference" {
		t.Errorf("answer: %v", answer)
	}
	hits := at(t, w.call("recall", object{"query": "Which seat does Alice want?"}), "hits")
	item := at(t, answer, "items", 0, "id")
	if at(t, hits, 0, "item_id") != item || at(t, hits, 0, "citation") != fmt.Sprintf("[memory %s]", item) {
		t.Errorf("hits: %v", hits)
	}
	if at(t, hits, 1, "role") != "user" || at(t, hits, 1, "seqs", 0) != 1.0 {
		t.Errorf("the turn is not among the hits as the user's: %v", hits)
	}
}

func TestRecallHasScopes(t *testing.T) {
	w := newWorld(t, nil)
	for _, of := range [][2]string{{"a", "alice"}, {"b", "alice"}, {"c", "carol"}} {
		if _, err := w.engine.Create(t.Context(), turn.SessionInfo{Key: turn.Key{Session: of[0]}, User: of[1]}); err != nil {
			t.Fatal(err)
		}
		w.say(of[0], turn.User, "The harbour opens at eight in "+of[0])
	}
	for scope, want := range map[string]int{"": 1, "session": 1, "user": 2, "tenant": 3} {
		hits := at(t, w.call("recall", object{"session": "a", "query": "when does the harbour open", "scope": scope}), "hits")
		if got := len(hits.([]any)); got != want {
			t.Errorf("scope %q: %d hits, want %d: %v", scope, got, want, hits)
		}
	}
	one := at(t, w.call("recall", object{"session": "a", "query": "harbour", "scope": "tenant", "limit": 1}), "hits")
	if len(one.([]any)) != 1 {
		t.Errorf("limit 1: %v", one)
	}
	few := at(t, w.call("recall", object{"session": "a", "query": "harbour", "tokens": 1}), "hits")
	if len(few.([]any)) > 0 && at(t, few, 0, "clipped") != true {
		t.Errorf("1 token: %v", few)
	}
	if unseen := at(t, w.call("recall", object{"session": "a", "query": "harbour", "unseen": true}), "hits"); len(unseen.([]any)) != 0 {
		t.Errorf("unseen: %v", unseen)
	}
}

func TestSearchHistory(t *testing.T) {
	w := newWorld(t, nil)
	for i := range 5 {
		w.say("a", turn.User, fmt.Sprintf("Ships of day %d", i+1))
		w.say("a", turn.Agent, "None.")
	}
	for _, test := range []struct {
		name string
		in   object
		want []any
		next any
	}{
		{"words", object{"text": "ship"}, []any{1.0, 3.0, 5.0, 7.0, 9.0}, nil},
		{"letters", object{"match": "day 2"}, []any{3.0}, nil},
		{"expression", object{"regexp": "day [45]$"}, []any{7.0, 9.0}, nil},
		{"role", object{"role": "agent", "from": 3, "to": 6}, []any{4.0, 6.0}, nil},
		{"pages", object{"role": "user", "limit": 2}, []any{1.0, 3.0}, 3.0},
		{"next page", object{"role": "user", "limit": 2, "after": 3}, []any{5.0, 7.0}, 7.0},
		{"time", object{"since": "2001-01-01T00:00:00Z", "until": "2002-01-01T00:00:00Z"}, nil, nil},
	} {
		test.in["session"] = "a"
		answer := w.call("search_history", test.in)
		var seqs []any
		for _, found := range answer["turns"].([]any) {
			seqs = append(seqs, found.(object)["seq"])
		}
		if diff := cmp.Diff(test.want, seqs); diff != "" || answer["next"] != test.next {
			t.Errorf("%s: next %v\n%s", test.name, answer["next"], diff)
		}
	}
}

func TestHistoryFollowsThePath(t *testing.T) {
	w := newWorld(t, nil)
	w.say("a", turn.User, "one")
	w.call("prompt", object{"session": "a"})
	w.call("snapshot", object{"session": "a", "name": "before"})
	w.say("a", turn.User, "two")
	s, err := w.engine.Find(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Restore(t.Context(), "before", turnstone.PromptOptions{}); err != nil {
		t.Fatal(err)
	}
	w.say("a", turn.User, "three")
	texts := func(turns any) (all []any) {
		for _, found := range turns.([]any) {
			all = append(all, at(t, found, "content", "text"))
		}
		return all
	}
	if diff := cmp.Diff([]any{"one", "three"}, texts(w.call("search_history", object{"session": "a", "limit": 2})["turns"])); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]any{"one", "three"}, texts(w.read("turnstone://sessions/a/history").(object)["turns"])); diff != "" {
		t.Error(diff)
	}
	if undone := w.call("undo", object{"session": "a"}); undone["undone"] != "restore" {
		t.Errorf("undone: %v", undone)
	}
}

func TestGoals(t *testing.T) {
	w := newWorld(t, nil)
	begun := w.call("set_goal", object{
		"session": "a", "title": "Ship it", "description": "all of it", "priority": "high", "next_steps": []string{"write tests"}, "why": "asked for",
		"milestones": []object{{"description": "tests", "status": "in-progress"}},
		"decisions":  []object{{"description": "Use Go", "rationale": "we know it", "locked": true}},
		"artifacts":  []object{{"path": "main.go", "action": "created"}},
	})
	id := at(t, begun, "goal", "id")
	if begun["changed"] != true || at(t, begun, "goal", "milestones", 0, "status") != "in-progress" || at(t, begun, "goal", "decisions", 0, "locked") != true ||
		at(t, begun, "goal", "artifacts", 0, "path") != "main.go" || at(t, begun, "goal", "next_steps", 0) != "write tests" || at(t, begun, "goal", "priority") != "high" {
		t.Errorf("begun: %v", begun)
	}
	if again := w.call("set_goal", object{"session": "a", "title": "Ship it"}); again["changed"] != false || at(t, again, "goal", "id") != id {
		t.Errorf("set to what it was: %v", again)
	}
	if again := w.call("set_goal", object{"session": "a", "id": id, "priority": "high"}); again["changed"] != false || at(t, again, "goal", "id") != id {
		t.Errorf("set to what it was by id: %v", again)
	}
	open := w.call("goals", object{"session": "a"})
	if open["active"] != id || len(open["goals"].([]any)) != 1 || at(t, open, "actions") == nil {
		t.Errorf("goals: %v", open)
	}
	done := w.call("set_goal", object{"session": "a", "id": id, "status": "completed", "progress": 1, "version": 1})
	if at(t, done, "goal", "status") != "completed" {
		t.Errorf("done: %v", done)
	}
	if open := w.call("goals", object{"session": "a"}); open["active"] != nil || len(open["goals"].([]any)) != 0 {
		t.Errorf("goals: %v", open)
	}
	if all := w.call("goals", object{"session": "a", "all": true}); at(t, all, "goals", 0, "id") != id {
		t.Errorf("all goals: %v", all)
	}
}

func TestPrompt(t *testing.T) {
	w := newWorld(t, nil)
	w.say("a", turn.User, "Is the harbour open?")
	w.say("a", turn.Agent, "Yes, until nine.")
	preview := w.call("prompt", object{"session": "a", "preview": true, "context": 8192, "model": "llama3.2"})
	made := w.call("prompt", object{"session": "a", "context": 8192, "model": "llama3.2"})
	if preview["recorded"] != false || made["recorded"] != true || preview["sha256"] != made["sha256"] || made["model"] != "llama3.2" {
		t.Errorf("preview %v\nmade %v", preview, made)
	}
	if at(t, made, "messages", 0, "parts", 0, "text") != "Is the harbour open?" || made["turns_shown"] != 2.0 || made["end"] != 2.0 {
		t.Errorf("made %v", made)
	}
	if made["window"].(float64) >= 8192 || made["tokens"].(float64) < 5 || made["reply_reserve"].(float64) < 256 {
		t.Errorf("made %v", made)
	}
	w.say("a", turn.User, "And tomorrow?")
	then := w.call("prompt", object{"session": "a", "at": 2})
	if then["recorded"] != true || then["sha256"] != made["sha256"] {
		t.Errorf("at turn 2: %v\nmade %v", then, made)
	}
	for format, path := range map[string][]any{
		"openai":    {"body", "messages", 0, "content"},
		"ollama":    {"body", "messages", 0, "content"},
		"anthropic": {"body", "messages", 0, "content"},
	} {
		body := w.call("prompt", object{"session": "a", "format": format, "preview": true, "model": "llama3.2"})
		if got := fmt.Sprint(at(t, body, path...)); !strings.Contains(got, "Is the harbour open?") || body["messages"] != nil {
			t.Errorf("%s: %v", format, body)
		}
	}
	if text := w.call("prompt", object{"session": "a", "format": "text", "preview": true}); !strings.Contains(text["body"].(string), "# ") {
		t.Errorf("text: %v", text)
	}
}

func TestPromptRecallsWhatItDoesNotShow(t *testing.T) {
	w := newWorld(t, nil)
	w.say("a", turn.User, "The password of the lighthouse is 4711.")
	w.compressed("a")
	answer := w.call("prompt", object{"session": "a", "context": 8192, "query": "cranes, ships and gulls of town 3", "format": "text"})
	if !strings.Contains(answer["body"].(string), "[Recalled from") && answer["left_out"] == nil {
		t.Errorf("nothing is recalled: %v", answer)
	}
	if answer["compressions"].(float64) < 1 {
		t.Errorf("compressions: %v", answer["compressions"])
	}
}

// embedderless is a model for embeddings that is not there.
type embedderless struct{}

func (embedderless) Embed(context.Context, []string) ([][]float32, error) {
	return nil, &llm.Error{Kind: llm.ErrModelMissing, Model: "nomic"}
}

func TestRecallWithoutItsEmbedder(t *testing.T) {
	w := newWorldOn(t, openEngine(t, turnstone.Config{Embedder: embedderless{}}), nil)
	w.say("a", turn.User, "The password of the lighthouse is 4711.")
	w.compressed("a")
	answer := w.call("recall", object{"session": "a", "query": "password of the lighthouse"})
	if len(at(t, answer, "hits").([]any)) == 0 || !strings.Contains(at(t, answer, "warnings", 0).(string), "nomic") {
		t.Errorf("%v", answer)
	}
	answer = w.call("prompt", object{"session": "a", "context": 8192, "query": "cranes, ships and gulls of town 3", "format": "text"})
	if answer["left_out"] == nil || !strings.Contains(at(t, answer, "warnings", 0).(string), "nomic") {
		t.Errorf("left out %v, warnings %v", answer["left_out"], answer["warnings"])
	}
}

func TestUndoOfACompression(t *testing.T) {
	w := newWorld(t, nil)
	w.compressed("a")
	undone := w.call("undo", object{"session": "a", "context": 128000})
	if undone["undone"] != "pass" || undone["pass"] != 1.0 || undone["from"] != 1.0 || undone["to"].(float64) < 2 {
		t.Errorf("undone: %v", undone)
	}
}

func TestSessionsInPages(t *testing.T) {
	w := newWorld(t, nil)
	for i := range 3 {
		w.say(fmt.Sprintf("s%d", i), turn.User, "hello")
	}
	first := w.call("list_sessions", object{"limit": 2})
	if at(t, first, "sessions", 0, "session_id") != "s2" || at(t, first, "sessions", 1, "session_id") != "s1" || at(t, first, "sessions", 0, "turns") != 1.0 {
		t.Errorf("first page: %v", first)
	}
	// It is the last one's id: its number among the sessions of all tenants would tell how many the others have.
	if first["next"] != "s1" {
		t.Errorf("next: %v", first["next"])
	}
	second := w.call("list_sessions", object{"limit": 2, "cursor": first["next"]})
	if at(t, second, "sessions", 0, "session_id") != "s0" || second["next"] != nil {
		t.Errorf("second page: %v", second)
	}
	if ended := w.call("list_sessions", object{"status": "ended"}); len(ended["sessions"].([]any)) != 0 {
		t.Errorf("ended: %v", ended)
	}
	if alices := w.call("list_sessions", object{"user": "alice"}); len(alices["sessions"].([]any)) != 0 {
		t.Errorf("alice's: %v", alices)
	}
}

func TestDefaultSession(t *testing.T) {
	w := newWorld(t, func(c *mcp.Config) { c.Session = "home" })
	if answer := w.call("remember", object{"text": "It rains."}); answer["session_id"] != "home" {
		t.Errorf("answer: %v", answer)
	}
	if shot := w.call("snapshot", nil); shot["session_id"] != "home" || shot["turn"] == 0.0 {
		t.Errorf("snapshot: %v", shot)
	}
}

func TestReaderMayNotWrite(t *testing.T) {
	w := newWorld(t, func(c *mcp.Config) { c.ReadOnly = func(*http.Request) bool { return true } })
	w.say("a", turn.User, "hello")
	for _, name := range []string{"remember", "set_goal", "snapshot", "undo"} {
		arguments := object{"session": "a"}
		switch name {
		case "remember":
			arguments["text"] = "hello"
		case "set_goal":
			arguments["title"] = "hello"
		}
		if text := refused(t.Context(), t, w.client, name, arguments); !strings.Contains(text, "may only read") || !strings.Contains(text, "scope write") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if p := w.call("prompt", object{"session": "a"}); p["recorded"] != false {
		t.Errorf("a reader's prompt is recorded: %v", p)
	}
	if open := w.call("goals", object{"session": "a"}); len(open["goals"].([]any)) != 0 {
		t.Errorf("goals: %v", open)
	}
}
