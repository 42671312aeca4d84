package transcript_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/transcript"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/turn"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func said(seq int64, role turn.Role, c turn.Content) turn.Turn {
	return turn.Turn{Seq: seq, Role: role, Content: c, CreatedAt: noon, Kind: turn.KindTurn}
}

func check(t *testing.T, got []byte, want string) {
	t.Helper()
	want = strings.TrimPrefix(want, "\n")
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("transcript (-want +got):\n%s", diff)
	}
}

func TestForms(t *testing.T) {
	summary := said(4, turn.System, turn.Text{Text: "They met."})
	summary.Kind, summary.Covers = turn.KindSummary, turn.Range{From: 1, To: 3}
	short := said(11, turn.System, turn.Text{Text: "They clicked."})
	short.Kind, short.Covers = turn.KindSummary, turn.Range{From: 9, To: 9}
	sure := 0.5
	got := transcript.Format{}.Append(nil, []turn.Turn{
		said(1, turn.User, turn.Text{Text: "one\ntwo\x1b[31m"}),
		said(2, turn.Agent, turn.Text{Text: "", Thinking: "hm", ToolCalls: nil}),
		said(3, turn.Agent, turn.Text{Text: "yes", Thinking: "hm"}),
		summary,
		said(5, turn.User, turn.Speech{Transcript: "hello", Language: "en", Confidence: &sure, Audio: &turn.Audio{
			MediaType: "audio/wav", Blob: turn.Blob{SHA256: "ab", Size: 7},
		}}),
		said(6, turn.User, turn.Speech{Transcript: "bye"}),
		said(7, turn.User, turn.Image{MediaType: "image/png", Alt: "a cat", Blob: turn.Blob{SHA256: "cd", Size: 9}}),
		said(8, turn.User, turn.Image{MediaType: "image/png", Blob: turn.Blob{SHA256: "cd", Size: 9}}),
		said(9, turn.User, turn.Action{Name: "click", Target: "#buy", Payload: `{"x":1}`}),
		said(10, turn.User, turn.Action{Name: "scroll"}),
		short,
	})
	check(t, got, `
   1  2026-01-02 12:00:00  user    one
                                   two\x1b[31m
   2  2026-01-02 12:00:00  agent   (thinking) hm
   3  2026-01-02 12:00:00  agent   (thinking) hm
                                   yes
   4  2026-01-02 12:00:00  system  [summary of turns 1-3] They met.
   5  2026-01-02 12:00:00  user    hello
                                   [speech, en, confidence 0.5, audio/wav, 7 bytes, sha256 ab]
   6  2026-01-02 12:00:00  user    bye
                                   [speech]
   7  2026-01-02 12:00:00  user    [image image/png, 9 bytes, sha256 cd] a cat
   8  2026-01-02 12:00:00  user    [image image/png, 9 bytes, sha256 cd]
   9  2026-01-02 12:00:00  user    [click] #buy {"x":1}
  10  2026-01-02 12:00:00  user    [scroll]
  11  2026-01-02 12:00:00  system  [summary of turn 9] They clicked.
`)
}

func TestLongTextIsCut(t *testing.T) {
	turns := []turn.Turn{
		said(1, turn.User, turn.Text{Text: "äöüß"}), said(2, turn.User, turn.Text{Text: "äöüßx"}), said(3, turn.User, turn.Text{Text: "abc\ndef"}),
	}
	check(t, transcript.Format{Most: 4}.Append(nil, turns), `
   1  2026-01-02 12:00:00  user    äöüß
   2  2026-01-02 12:00:00  user    äöüß… (1 more character; --json shows all)
   3  2026-01-02 12:00:00  user    abc
                                   … (3 more characters; --json shows all)
`)
}

func TestResultsStandUnderTheirCalls(t *testing.T) {
	call := said(1, turn.Agent, turn.Text{Text: "Let me see.", ToolCalls: []turn.ToolCall{
		{ID: "a", Name: "add", Arguments: "{\n\"x\": 1}"}, {ID: "b", Name: "mul", Arguments: "[2]"},
	}})
	call.Unit = 1
	sum := said(3, turn.System, turn.Result{Name: "add", CallID: "a", Status: turn.CallOK, Result: "3"})
	sum.Unit = 1
	product := said(4, turn.System, turn.Result{Name: "mul", CallID: "b", Status: turn.CallCancelled, Synthetic: true})
	product.Unit = 1
	alone := said(9, turn.System, turn.Result{Name: "div", CallID: "c", Status: turn.CallError, Result: `"by zero"`})
	alone.Unit = 8
	got := transcript.Format{}.Append(nil, []turn.Turn{call, said(2, turn.User, turn.Text{Text: "hurry"}), sum, product, alone})
	check(t, got, `
   1  2026-01-02 12:00:00  agent   Let me see.
                                   -> add {
                                   "x": 1} (call a)
   3  2026-01-02 12:00:00  system     <- ok 3
                                   -> mul [2] (call b)
   4  2026-01-02 12:00:00  system     <- cancelled (no tool answered)
   2  2026-01-02 12:00:00  user    hurry
   9  2026-01-02 12:00:00  system  <- div error "by zero" (call c of turn 8)
`)
}

func TestTurnsOffThePathAreMarked(t *testing.T) {
	f := transcript.Format{Off: func(seq int64) bool { return seq == 2 }}
	check(t, f.Append(nil, []turn.Turn{said(1, turn.User, turn.Text{Text: "one"}), said(2, turn.Agent, turn.Text{Text: "two\nthree"})}), `
   1  2026-01-02 12:00:00  user    one
   2  2026-01-02 12:00:00  agent   (off the path) two
                                   three
`)
}

func TestInterruptedRepliesAreMarked(t *testing.T) {
	turns := []turn.Turn{{Seq: 1, Role: turn.Agent, Content: turn.Text{Text: "Half a"}, Meta: turn.Meta{Interrupted: true}}}
	if got := string(transcript.Format{}.Append(nil, turns)); !strings.HasSuffix(got, "agent   (interrupted) Half a\n") {
		t.Errorf("got %q", got)
	}
}

func TestLongNumbersKeepColumns(t *testing.T) {
	got := transcript.Format{}.Append(nil, []turn.Turn{
		said(9999, turn.User, turn.Text{Text: "one\ntwo"}), said(123456, turn.Agent, turn.Text{Text: "three"}),
	})
	check(t, got, `
  9999  2026-01-02 12:00:00  user    one
                                     two
123456  2026-01-02 12:00:00  agent   three
`)
}

func TestColoursKeepColumns(t *testing.T) {
	f := transcript.Format{Style: terminal.Colours(), Location: time.FixedZone("", 3600)}
	got := f.Append(nil, []turn.Turn{said(1, turn.User, turn.Text{Text: "a"}), said(2, turn.Agent, turn.Text{Text: "b"}), said(3, turn.System, turn.Text{Text: "c"})})
	check(t, got, "\x1b[2m   1  2026-01-02 13:00:00\x1b[0m  \x1b[36muser\x1b[0m    a\n"+
		"\x1b[2m   2  2026-01-02 13:00:00\x1b[0m  \x1b[32magent\x1b[0m   b\n"+
		"\x1b[2m   3  2026-01-02 13:00:00\x1b[0m  \x1b[33msystem\x1b[0m  c\n")
}

func TestState(t *testing.T) {
	rev := dialogue.Revision{Number: 3, AfterSeq: 7, At: noon, State: dialogue.State{
		Stack: []dialogue.Flow{
			{ID: "f1", Name: "book", Status: dialogue.Pending, Stage: "asking", TurnIDs: []string{"t1", "t2"}},
			{ID: "f2", Name: "hotel", Status: dialogue.Active, PlanID: "f1", Slots: []dialogue.Slot{
				{Name: "größe", Type: dialogue.TypeNumber, Value: "2", FilledBy: "t2"},
				{Name: "city", Type: dialogue.TypeString},
			}},
		},
		SetAside: []dialogue.Flow{{ID: "f0", Name: "old", Status: dialogue.Invalid}},
	}}
	check(t, transcript.Format{}.AppendState(nil, rev), `
revision 3, after turn 7, 2026-01-02 12:00:00
active     hotel  f2  step of f1
    größe  number   2  turn t2
    city   string   (unfilled)
pending    book  f1  stage asking  turns 2
set aside: invalid    old  f0
`)
	done := dialogue.Flow{ID: "f", Name: "n", Status: dialogue.Completed, Result: "{\n}"}
	check(t, transcript.Format{}.AppendFlow(nil, done), "completed  n  f  result { }\n")
	painted := transcript.Format{Style: terminal.Colours()}.AppendFlow(nil, done)
	check(t, painted, "\x1b[36mcompleted\x1b[0m  \x1b[1mn\x1b[0m  \x1b[2mf\x1b[0m  result { }\n")
	check(t, transcript.Format{}.AppendState(nil, dialogue.Revision{At: noon}), `
revision 0, after turn 0, 2026-01-02 12:00:00
no flow on the stack
`)
}

func TestWords(t *testing.T) {
	for want, c := range map[string]turn.Content{
		"hello":                           turn.Text{Text: "hello"},
		`hm -> search {"q":1} -> stop {}`: turn.Text{Text: "hm", ToolCalls: []turn.ToolCall{{Name: "search", Arguments: `{"q":1}`}, {Name: "stop", Arguments: "{}"}}},
		`<- search ok ["Tom"]`:            turn.Result{Name: "search", Status: turn.CallOK, Result: `["Tom"]`},
		"[click] #buy":                    turn.Action{Name: "click", Target: "#buy"},
	} {
		said := said(1, turn.Agent, c)
		if got := transcript.Words(&said); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
