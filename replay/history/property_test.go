package history_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/internal/turngen"
	"github.com/turnstone-dev/turnstone/replay/history"
	"github.com/turnstone-dev/turnstone/turn"
)

// madeUp is a world of random turns, some of which share a message.
func madeUp(t *rapid.T) *world {
	w := newWorld(t)
	for i, d := range turngen.Log(24).Draw(t, "log") {
		d.Meta = rapid.SampledFrom([]turn.Meta{{}, {}, {Tokens: 7, Model: "made-up", Latency: 3 * time.Microsecond}}).Draw(t, "meta")
		d.MessageID = rapid.SampledFrom([]string{"", "", "m1", "m2"}).Draw(t, "message")
		if rapid.Bool().Draw(t, "keyed") {
			d.IdempotencyKey = fmt.Sprintf("key-%d", i)
		}
		w.say(d)
	}
	return w
}

var header = history.Header{
	Session: "trip", Title: "A “trip”", Model: "made-up:3b", Provider: "ollama", User: "u-17",
	Started: noon, LastActivity: noon.Add(time.Hour), Compressions: 2, Tokens: 8500,
}

// What we write ourselves comes back to the byte; calls that stayed open are closed at the end.
func TestLosslessRoundTrip(t *testing.T) {
	for _, f := range []history.Format{history.Session, history.Lines} {
		t.Run(string(f), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				w := madeUp(t)
				if len(w.turns) == 0 {
					return
				}
				text, _ := w.export(f, header)
				if again, _ := w.export(f, header); again != text {
					t.Fatalf("exported twice:\n%s\n%s", text, again)
				}
				back, got := read(t, text, "", history.Options{})
				n := len(w.turns)
				if len(back.turns) < n {
					t.Fatalf("%d turns of %d came back", len(back.turns), n)
				}
				if diff := cmp.Diff(w.turns, back.turns[:n]); diff != "" {
					t.Fatalf("turns differ (-out +in):\n%s\n%s", diff, text)
				}
				for _, closed := range back.turns[n:] {
					if r, ok := closed.Content.(turn.Result); !ok || !r.Synthetic || r.Status != turn.CallCancelled {
						t.Fatalf("%+v came from nowhere", closed)
					}
				}
				if got.Format != f {
					t.Fatalf("taken for %s", got.Format)
				}
				for _, l := range got.Report.Losses {
					if l.Kind != "calls without a result" || l.Count != len(back.turns)-n {
						t.Fatalf("lost: %v", l)
					}
				}
				if f == history.Session && got.Header != header {
					t.Fatalf("header %+v", got.Header)
				}
			})
		})
	}
}

// What a provider's format holds comes back as the same bytes when it is written again.
func TestMessagesRoundTrip(t *testing.T) {
	for _, f := range []history.Format{history.OpenAI, history.Anthropic} {
		t.Run(string(f), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				text, _ := madeUp(t).export(f, history.Header{})
				back, got := read(t, text, f, history.Options{})
				for _, l := range got.Report.Losses {
					t.Fatalf("lost on the way in: %v\n%s", l, text)
				}
				if again, _ := back.export(f, history.Header{}); again != text {
					t.Fatalf("differ:\n%s", cmp.Diff(text, again))
				}
			})
		})
	}
}

// Whatever is said, the transcript for people has one heading a message and nothing else at the
// beginning of a line that a fence does not hold.
func TestMarkdownCannotBeBrokenOutOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		n := rapid.IntRange(1, 5).Draw(t, "turns")
		for range n {
			nasty := rapid.SampledFrom([]string{"```", "\n````\n", "## 1 · User", "</details>", "\n~~~\n", "`````", "\r```\r", "text"})
			text := rapid.Map(rapid.SliceOfN(nasty, 1, 6), func(s []string) string { return fmt.Sprint(s) }).Draw(t, "text")
			w.say(turn.Draft{Role: turn.Agent, Content: turn.Text{Text: text, Thinking: text}})
		}
		text, _ := w.export(history.Markdown, history.Header{Title: "```\n# not a heading"})
		if headings := outsideFences(text); headings != n+1 {
			t.Fatalf("%d headings, want %d:\n%s", headings, n+1, text)
		}
	})
}
