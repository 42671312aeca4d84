package history_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/replay/history"
	"github.com/turnstone-dev/turnstone/turn"
)

// TestForgottenTurns go out as what they are, and come in as a text that says so: nobody can append a tombstone.
func TestForgottenTurns(t *testing.T) {
	w := newWorld(t)
	call := turn.ToolCall{ID: "a", Name: "f", Arguments: "{}"}
	w.say(
		turn.Draft{Role: turn.User, Content: turn.Text{Text: "my number is 7"}},
		turn.Draft{Role: turn.Agent, Content: turn.Text{ToolCalls: []turn.ToolCall{call}}},
		turn.Draft{Role: turn.System, Content: turn.Result{Name: "f", CallID: "a", Status: turn.CallOK, Result: "7"}},
		turn.Draft{Role: turn.User, Content: turn.Action{Name: "click"}},
		turn.Draft{Role: turn.Agent, Content: turn.Text{Text: "done"}},
	)
	for i := range 4 {
		w.turns[i] = w.turns[i].Tombstone()
	}
	want := []string{
		`user/text {"text":"[forgotten]"}`, `agent/text {"text":"[forgotten]"}`, `system/text {"text":"[forgotten]"}`,
		`user/text {"text":"[forgotten]"}`, `agent/text {"text":"done"}`,
	}
	for _, f := range []history.Format{history.Session, history.Lines, history.OpenAI, history.Anthropic} {
		text, _ := w.export(f, history.Header{Session: "trip"})
		got, _ := read(t, text, f, history.Options{})
		if f == history.Anthropic {
			want[2] = `user/text {"text":"[system] [forgotten]"}`
		}
		if diff := cmp.Diff(want, got.transcript()); diff != "" {
			t.Errorf("%s: %s", f, diff)
		}
	}
}
