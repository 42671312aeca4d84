package prompt_test

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestEveryFormAndRoleBecomesAMessage(t *testing.T) {
	text := func(s string) []prompt.Part { return []prompt.Part{{Text: s}} }
	picture := turn.Image{MediaType: "image/png", Alt: "a cat", Blob: turn.Blob{Data: []byte("png")}}
	for _, tt := range []struct {
		name    string
		role    turn.Role
		content turn.Content
		want    prompt.Message
	}{
		{"user's text", turn.User, turn.Text{Text: " hello\n"}, prompt.Message{Role: prompt.User, Parts: text(" hello\n")}},
		{"agent's text", turn.Agent, turn.Text{Text: "hi", Thinking: "a secret"}, prompt.Message{Role: prompt.Agent, Parts: text("hi")}},
		{"system's text", turn.System, turn.Text{Text: "be nice"}, prompt.Message{Role: prompt.System, Parts: text("be nice")}},
		{"speech", turn.User, turn.Speech{Transcript: "spoken", Language: "en"}, prompt.Message{Role: prompt.User, Parts: text("spoken")}},
		{"image", turn.User, picture, prompt.Message{Role: prompt.User, Parts: []prompt.Part{{Image: &prompt.Image{
			MediaType: "image/png", Alt: "a cat", Size: 3, SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte("png"))),
		}}}}},
		{"action", turn.User, turn.Action{Name: "click"}, prompt.Message{Role: prompt.User, Parts: text("[action: click]")}},
		{"action on something", turn.System, turn.Action{Name: "open", Target: "page 3"}, prompt.Message{Role: prompt.System, Parts: text("[action: open page 3]")}},
		{"action with a payload", turn.User, turn.Action{Name: "pick", Target: "list", Payload: `{"i": 1}`}, prompt.Message{Role: prompt.User, Parts: text(`[action: pick list] {"i": 1}`)}},
		{"action with a payload alone", turn.User, turn.Action{Name: "pick", Payload: `[1]`}, prompt.Message{Role: prompt.User, Parts: text(`[action: pick] [1]`)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, 2048)
			w.append(turn.Draft{Role: tt.role, Content: tt.content})
			p := w.compile()
			tt.want.Seqs = []int64{1}
			if diff := cmp.Diff([]prompt.Message{tt.want}, p.Messages); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if p.End != 1 || p.Shown != 1 || p.Model != "exact" || p.Epoch != 1 || p.Opened != prompt.ReasonStart {
				t.Errorf("%+v", p)
			}
		})
	}
}

func TestResultsSayHowTheirCallEnded(t *testing.T) {
	for _, tt := range []struct {
		status turn.CallStatus
		result string
		want   string
		failed bool
	}{
		{turn.CallOK, `"plain \"text\"\n"`, "plain \"text\"\n", false},
		{turn.CallOK, `{"rows": [1,  2]}`, `{"rows": [1,  2]}`, false},
		{turn.CallOK, `null`, "null", false},
		{turn.CallOK, "", "(ok, nothing returned)", false},
		{turn.CallOK, `" \n"`, "(ok, nothing returned)", false},
		{turn.CallError, `"no such file"`, "[error] no such file", true},
		{turn.CallError, `{"code":7}`, `[error] {"code":7}`, true},
		{turn.CallError, `""`, "(error, nothing returned)", true},
		{turn.CallCancelled, "", "(the call was cancelled; there is no result)", true},
		{turn.CallCancelled, `"half"`, "[cancelled] half", true},
	} {
		w := newWorld(t, 2048)
		r := turn.Result{Name: "search", CallID: "a", Status: tt.status, Result: tt.result}
		w.append(call("a"), turn.Draft{Role: turn.System, Content: r})
		p := w.compile()
		want := []prompt.Message{
			{Role: prompt.Agent, Seqs: []int64{1}, Calls: []prompt.ToolCall{{ID: "call_1_1", Name: "search", Arguments: `{"q":1}`}}},
			{Role: prompt.Tool, Seqs: []int64{2}, CallID: "call_1_1", Name: "search", Failed: tt.failed, Parts: []prompt.Part{{Text: tt.want}}},
		}
		if diff := cmp.Diff(want, p.Messages); diff != "" {
			t.Errorf("%s %s (-want +got)\n%s", tt.status, tt.result, diff)
		}
	}
}

func TestResultsStandInTheOrderOfTheCalls(t *testing.T) {
	w := newWorld(t, 4096)
	odd := turn.Draft{Role: turn.Agent, Content: turn.Text{Text: "looking", Thinking: "hm", ToolCalls: []turn.ToolCall{
		{ID: "ünïcode id", Name: "search", Arguments: `{"a": 1}`}, {ID: "b", Name: "search", Arguments: "[]"}, {ID: "c", Name: "search", Arguments: "{}"},
	}}}
	w.append(odd, result("c", "third"), result("ünïcode id", "first"), result("b", "second"))
	// An id may come back once its call is closed.
	w.append(call("b"), result("b", "again"))
	wantLines(t, said(w.compile()),
		"assistant: looking →call_1_1 →call_1_2 →call_1_3",
		"tool: first ←call_1_1", "tool: second ←call_1_2", "tool: third ←call_1_3",
		"assistant: →call_5_1", "tool: again ←call_5_1",
	)
	wantShown(t, w.last, 1, 3, 4, 2, 5, 6)
}

func TestUnitsStandWhereTheirLastResultWasWritten(t *testing.T) {
	w := newWorld(t, 4096)
	w.append(user("go"), call("a", "b"))
	wantShown(t, w.compile(), 1)
	w.append(user("are you there?"), result("b", "beta"), call("c"))
	wantShown(t, w.compile(), 1, 3)
	w.append(result("c", "gamma"), agent("one moment"))
	wantShown(t, w.compile(), 1, 3, 5, 6, 7)
	w.append(result("a", "alpha"))
	w.append(agent("done"))
	wantLines(t, said(w.compile()),
		"user: go", "user: are you there?", "assistant: →call_5_1", "tool: gamma ←call_5_1", "assistant: one moment",
		"assistant: →call_2_1 →call_2_2", "tool: alpha ←call_2_1", "tool: beta ←call_2_2", "assistant: done",
	)
	if w.last.Opened != "" || w.last.Shown != 9 {
		t.Errorf("%+v", w.last)
	}
}

func TestSummariesAreNotShown(t *testing.T) {
	w := newWorld(t, 2048)
	w.append(user("one"), summary(1), agent("two"))
	wantLines(t, said(w.compile()), "user: one", "assistant: two")
	if w.last.End != 3 {
		t.Errorf("it ends at %d", w.last.End)
	}
}

func TestPartsOfAMessageAreOneMessage(t *testing.T) {
	w := newWorld(t, 4096)
	picture := part("m", "")
	picture.Content = turn.Image{MediaType: "image/png", Alt: "a cat", Blob: turn.Blob{Data: []byte("png")}}
	w.append(part("m", "look"), picture)
	p := w.compile()
	if len(p.Messages) != 1 || len(p.Messages[0].Parts) != 2 || p.Messages[0].Parts[1].Image == nil || p.Tally.Messages != 1 || p.Tally.Images != 1 {
		t.Fatalf("%+v, %+v", p.Messages, p.Tally)
	}
	// The last part comes after the prompt was compiled, and after a summary and an answer of a tool, which
	// are no messages in between.
	w.append(call("a", "b"), summary(2), result("b", "x"), part("m", "at this"))
	p = w.compile()
	wantShown(t, p, 1, 2, 6)
	if len(p.Messages) != 1 || p.Tally.Messages != 1 || p.Shown != 3 {
		t.Fatalf("%+v, %+v", p.Messages, p.Tally)
	}
	// Another role's, another id's and a part behind something else are messages of their own.
	answer := agent("a dog")
	answer.MessageID = "m"
	w.append(answer, part("m", "no"), part("n", "a cat"), user("x"), user("y"))
	wantLines(t, said(w.compile())[1:], "assistant: a dog", "user: no", "user: a cat", "user: x", "user: y")
}
