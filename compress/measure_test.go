package compress_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestHandles(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []turn.Range
	}{
		{"none", "Decided: Use JWT\nIn turns 3-4 there is more.", nil},
		{"of nothing", "", nil},
		{"one", "More: turns 3\n", ranges(3, 3)},
		{"several", "Also: 8471\nMore: turns 3, 17-19, 40\n", ranges(3, 3, 17, 19, 40, 40)},
		{"that overlap", "More: turns 5-20, 7-9, 21, 5-6", ranges(5, 21)},
		{"not at the beginning of a line", "See More: turns 3", nil},
		{"not at the end", "More: turns 3\nagent: It runs", nil},
		{"the last of two", "More: turns 3\n  More: turns 4\n\n", ranges(4, 4)},
		{"outside of the range", "More: turns 1, 2-3, 3, 40-99, 41, 1-99999, 40", ranges(3, 3, 40, 40)},
		{"spoilt", "More: turns 0, -4, x, 9-, 8-7, 12-x, 99999999999999999999, 6", ranges(6, 6)},
		{"without numbers", "More: turns", nil},
	} {
		if diff := cmp.Diff(tt.want, compress.Handles(tt.text, turn.Range{From: 3, To: 40})); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.name, diff)
		}
	}
}

// TestHandlesAreRead finds in a summary the turns that it was made to name, and no others.
func TestHandlesAreRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &log{}
		n := rapid.IntRange(2, 40).Draw(t, "turns")
		for i := range n {
			l.agent(fmt.Sprintf("[DECISION] Paint wall %d of the house in a colour that fits the street\n", i) + strings.Repeat("Nothing of interest happened. ", 6))
		}
		summary, _, err := compress.Run(t.Context(), nil, request(l, rapid.IntRange(60, 400).Draw(t, "budget")), compress.Options{})
		if err != nil {
			t.Skip(err)
		}
		for _, r := range compress.Handles(summary, turn.Range{From: 1, To: 1000}) {
			if r.From < 1 || r.To > int64(n) {
				t.Fatalf("%+v in %s", r, summary)
			}
		}
		held, _, total := compress.Measure(l.source(), "", summary, nil, nil)
		if total < n || held < 0 || held > total {
			t.Fatalf("%d of %d", held, total)
		}
	})
}

// measured is a source in which one thing of each kind matters.
func measured() compress.Source {
	l := &log{}
	l.user("Please look at the importer, ticket KX-20931.")                     // 1, a literal
	l.agent("[DECISION] Keep the old dates\nThat is what the importer needs.")  // 2, a decision
	l.tool("edit_file", `{"path":"src/dates.go"}`, turn.CallOK, `{"ok":true}`)  // 3, 4, a file
	l.agent("The queue is maxInflight deep.")                                   // 5
	l.agent("It was maxInflight before, too. The deadline is next Friday.")     // 6, a literal, and a sentence that planning protects
	l.agent("We are still waiting for the certificate.\n[NEXT] Write the test") // 7, a request and a next step
	return l.source()
}

func TestMeasure(t *testing.T) {
	const everything = `ticket KX-20931 · We decided: keep the old dates. Files: src/dates.go, maxInflight
The deadline is next Friday. We are still waiting for the certificate. Next: write the test`
	for _, tt := range []struct {
		name, mode, text string
		handles          []turn.Range
		reached          []int64
		held, total      int
	}{
		{"nothing", "", "", nil, nil, 0, 6},
		{"nothing, in a mode", compress.ModePlanning, "", nil, nil, 0, 7},
		{"everything", compress.ModePlanning, everything, nil, nil, 7, 7},
		{"everything the other way round", "", "Do not keep the old dates. Files: src/dates.go.bak, xmaxInflight", nil, nil, 0, 6},
		{"a decision", "", "They decided to keep the old dates.", nil, nil, 1, 6},
		{"a file", "", "changed src/dates.go", nil, nil, 1, 6},
		{"the user's words", "", "User: Please look at the importer, ticket KX-20931.", nil, nil, 1, 6},
		{"by handles", "", "", ranges(2, 3), nil, 2, 6},
		{"a literal by its first turn", "", "", ranges(5, 5), nil, 1, 6},
		{"a literal by its last turn", "", "", ranges(6, 6), nil, 1, 6},
		{"by words that look like handles", "", "More: turns 2-3\n", nil, nil, 0, 6},
		{"reached", "", "", nil, []int64{1, 7}, 3, 6},
		{"reached, and held anyway", "", everything, nil, []int64{1, 2, 3, 4, 5, 6, 7}, 6, 6},
	} {
		var reached func(int64, compress.FactKind) bool
		if tt.reached != nil {
			reached = func(seq int64, _ compress.FactKind) bool {
				for _, r := range tt.reached {
					if r == seq {
						return true
					}
				}
				return false
			}
		}
		named := 0
		if tt.text == "" {
			named = tt.held // there is nothing that could hold it
		}
		if held, only, total := compress.Measure(measured(), tt.mode, tt.text, tt.handles, reached); held != tt.held || only != named || total != tt.total {
			t.Errorf("%s: %d of %d, %d only named, want %d of %d and %d", tt.name, held, total, only, tt.held, tt.total, named)
		}
	}
}

// TestMeasureOfWhatStandsBeside counts what the user said, which the prompt holds word for word or lost.
func TestMeasureOfWhatStandsBeside(t *testing.T) {
	l := &log{}
	l.user("We decided to ship on 2027-03-14.").agent("Fine.")
	s := compress.NewSource(turn.Range{From: 1, To: 2}, l.turns, nil)
	for _, tt := range []struct {
		text string
		held int
	}{{"", 0}, {"We decided to ship on 2027-03-14.", 2}} {
		if held, _, total := compress.Measure(s, "", tt.text, nil, nil); held != tt.held || total != 2 {
			t.Errorf("%q: %d of %d", tt.text, held, total)
		}
	}
	if diff := cmp.Diff(ranges(1, 1), s.Beside); diff != "" {
		t.Errorf("the source was changed:\n%s", diff)
	}
	if held, _, total := compress.Measure(compress.Source{}, "", "text", nil, nil); held != 0 || total != 0 {
		t.Errorf("of nothing: %d of %d", held, total)
	}
}

func BenchmarkMeasure(b *testing.B) {
	s := work(30_000).source()
	var text strings.Builder
	for i := range s.Turns {
		if i%3 == 0 {
			text.WriteString(s.Turns[i].Content.Searchable() + "\n")
		}
	}
	prompt := text.String()
	prompt += prompt + prompt
	for b.Loop() {
		if held, _, total := compress.Measure(s, compress.ModeDeveloper, prompt, nil, nil); held == 0 || total == 0 {
			b.Fatal(held, total)
		}
	}
}
