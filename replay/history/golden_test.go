package history_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/replay/history"
	"github.com/turnstone-dev/turnstone/turn"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// conversation has every form, parallel calls whose results come late and crossed, a message of
// several parts, a failed and an open call, a summary, and text that wants to break out.
func conversation(t tester) *world {
	w := newWorld(t)
	confidence := 0.75
	said := func(role turn.Role, c turn.Content) turn.Draft { return turn.Draft{Role: role, Content: c} }
	in := func(message string, d turn.Draft) turn.Draft {
		d.MessageID = message
		return d
	}
	w.say(
		said(turn.System, turn.Text{Text: "You plan trips.\nBe brief."}),
		said(turn.System, turn.Text{Text: "Today is Saturday."}),
		in("m1", said(turn.User, turn.Text{Text: "Where is this? <b>bold</b> ```\n# heading"})),
		in("m1", said(turn.User, turn.Image{MediaType: "image/png", Alt: "a *tower* by a river", Blob: turn.Blob{Data: []byte("\x89PNG made up")}})),
		turn.Draft{Role: turn.Agent, Content: turn.Text{Text: "Let me look.", Thinking: "Looks like Belém.", ToolCalls: []turn.ToolCall{
			{ID: "call_1", Name: "search", Arguments: `{"q": "tower",  "n": 1.0}`},
			{ID: "call_2", Name: "weather", Arguments: `["Lisbon"]`},
		}}, Meta: turn.Meta{Tokens: 12, Model: "made-up:3b"}},
		said(turn.User, turn.Text{Text: "No hurry."}),
		said(turn.System, turn.Result{Name: "weather", CallID: "call_2", Status: turn.CallError, Result: `"no service"`}),
		said(turn.System, turn.Result{Name: "search", CallID: "call_1", Status: turn.CallOK, Result: `{"hits": [1, 2]}`}),
		said(turn.Agent, turn.Text{Text: "The tower of Belém."}),
		said(turn.User, turn.Speech{Transcript: "Book it.", Language: "en", Confidence: &confidence}),
		said(turn.User, turn.Action{Name: "click", Target: "#book", Payload: `{"x":1}`}),
		turn.Draft{Role: turn.System, Kind: turn.KindSummary, Covers: turn.Range{From: 1, To: 9}, Content: turn.Text{Text: "They are in Lisbon."}},
		said(turn.Agent, turn.Text{ToolCalls: []turn.ToolCall{{ID: "call_3", Name: "book", Arguments: `{}`}}}),
	)
	return w
}

func TestGolden(t *testing.T) {
	for f, name := range map[history.Format]string{
		history.Session: "session.json", history.Lines: "turns.jsonl", history.OpenAI: "openai.json",
		history.Anthropic: "anthropic.json", history.Markdown: "transcript.md",
	} {
		t.Run(name, func(t *testing.T) {
			text, report := conversation(t).export(f, header)
			golden(t, name, text)
			var losses strings.Builder
			for _, l := range report.Losses {
				losses.WriteString(l.String() + "\n")
			}
			golden(t, name+".losses", losses.String())
			want := 13
			if f == history.OpenAI || f == history.Anthropic {
				want-- // a summary is no message
			}
			if report.Turns != want {
				t.Errorf("%d turns", report.Turns)
			}
		})
	}
}

// What is written is read again, by people too: a line a turn.
func TestGoldenTurns(t *testing.T) {
	for _, name := range files {
		t.Run(name, func(t *testing.T) {
			w, got := read(t, file(t, name), "", history.Options{})
			lines := w.transcript()
			for _, l := range got.Report.Losses {
				lines = append(lines, "lost "+l.String())
			}
			golden(t, name+".turns", strings.Join(lines, "\n")+"\n")
		})
	}
}

// Every version ever written stays readable: the files are read, not what is written now.
func TestGoldenIsRead(t *testing.T) {
	want := conversation(t)
	for _, name := range []string{"session.json", "turns.jsonl"} {
		got, _ := read(t, file(t, name), "", history.Options{})
		if diff := cmp.Diff(want.turns, got.turns[:len(want.turns)]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(filepath.Join("testdata", name), []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(file(t, name), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// outsideFences counts the headings of a Markdown text that stand in no fence.
func outsideFences(text string) (headings int) {
	open := ""
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case open == "" && len(ticks) >= 3:
			open = ticks
		case open != "" && len(ticks) >= len(open) && strings.Trim(line, "` ") == "":
			open = ""
		case open == "" && strings.HasPrefix(line, "#"):
			headings++
		}
	}
	return headings
}
