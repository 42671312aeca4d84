package mcp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/turn"
)

// read reads a resource that must be there.
func (w *world) read(uri string) any {
	w.t.Helper()
	result, err := w.client.ReadResource(w.t.Context(), &sdk.ReadResourceParams{URI: uri})
	if err != nil {
		w.t.Fatalf("%s: %v", uri, err)
	}
	if len(result.Contents) != 1 || result.Contents[0].URI != uri || result.Contents[0].MIMEType != "application/json" {
		w.t.Fatalf("%s: %+v", uri, result.Contents)
	}
	var value any
	if err := json.Unmarshal([]byte(result.Contents[0].Text), &value); err != nil {
		w.t.Fatalf("%s: %v", uri, err)
	}
	return value
}

func TestResources(t *testing.T) {
	w := newWorld(t, nil)
	w.compressed("a")
	remembered := w.call("remember", object{"session": "a", "text": "We decided to use port 4711."})
	s, err := w.engine.Find(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Commit(t.Context(), commit.Exchange{Turns: []turn.Draft{
		{Role: turn.User, Content: turn.Text{Text: "Which crane lifts the containers of the harbour?"}},
		{Role: turn.Agent, Content: turn.Text{Text: "[GOAL] Move the containers\n[DECISION] Use the large crane - LOCKED\nThe large crane lifts the containers."}},
	}}); err != nil {
		t.Fatal(err)
	}
	w.call("snapshot", object{"session": "a", "name": "calm"})

	if list := w.read("turnstone://sessions"); at(t, list, "sessions", 0, "session_id") != "a" {
		t.Errorf("sessions: %v", list)
	}
	session := w.read("turnstone://sessions/a").(object)
	if session["session_id"] != "a" || session["status"] != "active" || at(t, session, "snapshots", 0, "name") != "calm" || len(session["summary"].([]any)) == 0 || len(session["topics"].([]any)) == 0 || !contains(at(t, session, "decisions", 0, "text").(string), "large crane") {
		t.Errorf("session: %v", session)
	}
	history := w.read("turnstone://sessions/a/history").(object)
	if turns := history["turns"].([]any); len(turns) != 20 {
		t.Errorf("history has %d turns", len(turns))
	}
	list := w.read("turnstone://sessions/a/checkpoints")
	number := at(t, list, "checkpoints", 0, "compression_number")
	versions := w.read(fmt.Sprintf("turnstone://sessions/a/checkpoints/%v", number))
	if at(t, versions, "checkpoints", 0, "id") != at(t, list, "checkpoints", 0, "id") || at(t, versions, "checkpoints", 0, "summary") == "" {
		t.Errorf("versions: %v\nof %v", versions, list)
	}
	id := remembered["turn_id"].(string)
	if trace := w.read("turnstone://traces/" + id); at(t, trace, "turn_id") != id || len(at(t, trace, "spans").([]any)) == 0 {
		t.Errorf("trace: %v", trace)
	}
}

// A colon may stand in the id of a session, and in a URI as it is or escaped, as clients that fill in a template write it.
func TestResourcesOfIDsWithColons(t *testing.T) {
	w := newWorld(t, nil)
	w.say("user:7", turn.User, "hello")
	for _, id := range []string{"user:7", "user%3A7", "user%3a7"} {
		session := w.read("turnstone://sessions/" + id).(object)
		if session["session_id"] != "user:7" {
			t.Errorf("session: %v", session)
		}
		if history := w.read("turnstone://sessions/" + id + "/history").(object); len(history["turns"].([]any)) != 1 {
			t.Errorf("history: %v", history)
		}
	}
	for _, id := range []string{"user%7", "user%2F7", "user%257"} {
		if _, err := w.client.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "turnstone://sessions/" + id}); err == nil {
			t.Errorf("%s is found", id)
		}
	}
}

func TestResourcesAreListed(t *testing.T) {
	w := newWorld(t, nil)
	w.say("old", turn.User, "hello")
	if _, err := w.engine.Create(t.Context(), turn.SessionInfo{Key: turn.Key{Session: "new"}, Title: "Harbour"}); err != nil {
		t.Fatal(err)
	}
	list, err := w.client.ListResources(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range list.Resources {
		got = append(got, r.URI+" "+r.Title)
		w.read(r.URI)
	}
	if diff := cmp.Diff([]string{"turnstone://sessions Sessions", "turnstone://sessions/new Harbour", "turnstone://sessions/old Session old"}, got); diff != "" {
		t.Error(diff)
	}
	templates, err := w.client.ListResourceTemplates(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var uris []string
	for _, r := range templates.ResourceTemplates {
		uris = append(uris, r.URITemplate)
		if r.Description == "" || r.Title == "" || r.MIMEType != "application/json" {
			t.Errorf("%s is described as %+v", r.URITemplate, r)
		}
	}
	slices.Sort(uris)
	if diff := cmp.Diff([]string{
		"turnstone://sessions/{session}", "turnstone://sessions/{session}/checkpoints", "turnstone://sessions/{session}/checkpoints/{number}",
		"turnstone://sessions/{session}/history", "turnstone://traces/{turn}",
	}, uris); diff != "" {
		t.Error(diff)
	}
}

func TestMissingResources(t *testing.T) {
	w := newWorld(t, nil)
	w.say("a", turn.User, "hello")
	for uri, want := range map[string]string{
		"turnstone://sessions/b":               "Resource not found",
		"turnstone://sessions/b/history":       "Resource not found",
		"turnstone://sessions/b/checkpoints":   "Resource not found",
		"turnstone://sessions/b/checkpoints/1": "Resource not found",
		"turnstone://sessions/a/checkpoints/7": "Resource not found",
		"turnstone://sessions/a/checkpoints/x": `number: "x" is no number; read the session's checkpoints for theirs`,
		"turnstone://traces/nobody":            "Resource not found",
		"turnstone://elsewhere":                "Resource not found",
	} {
		_, err := w.client.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if err == nil || !contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", uri, err, want)
		}
	}
}

func TestAnEmptiedCheckpoint(t *testing.T) {
	w := newWorld(t, nil)
	w.compressed("a")
	if _, err := w.engine.Forget(t.Context(), turnstone.Target{Session: "a", Seqs: []int64{1}}); err != nil {
		t.Fatal(err)
	}
	_, err := w.client.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "turnstone://sessions/a/checkpoints/1"})
	var told *jsonrpc.Error
	if !errors.As(err, &told) || told.Code != jsonrpc.CodeInvalidParams ||
		told.Message != "checkpoint 1 of a: it was emptied: of what it told, something was forgotten; it cannot be brought back" {
		t.Errorf("%+v", err)
	}
	w.read("turnstone://sessions/a/checkpoints")
}

func TestCompletionOfSessions(t *testing.T) {
	w := newWorld(t, nil)
	for _, id := range []string{"alpha", "beta", "alps"} {
		w.say(id, turn.User, "hello")
	}
	ask := func(name, value string) []string {
		result, err := w.client.Complete(t.Context(), &sdk.CompleteParams{
			Ref:      &sdk.CompleteReference{Type: "ref/resource", URI: "turnstone://sessions/{session}"},
			Argument: sdk.CompleteParamsArgument{Name: name, Value: value},
		})
		if err != nil {
			t.Fatal(err)
		}
		if result.Completion.Total != len(result.Completion.Values) || result.Completion.HasMore {
			t.Errorf("%q: %+v", value, result.Completion)
		}
		return result.Completion.Values
	}
	if diff := cmp.Diff([]string{"alps", "alpha"}, ask("session", "al")); diff != "" {
		t.Error(diff)
	}
	if got := ask("number", "1"); len(got) != 0 {
		t.Errorf("numbers: %v", got)
	}
}
