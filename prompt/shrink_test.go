package prompt_test

import (
	"fmt"
	"testing"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/prompt"
)

// TestAWindowShrinksWhateverTheStrategy fills a large window and goes on in a small one, where what stands for the turns
// that left would not fit: the oldest checkpoints and the user's oldest words are then only named.
func TestAWindowShrinksWhateverTheStrategy(t *testing.T) {
	for _, tt := range []struct {
		large, small bool // whether there are summaries in the large and in the small window
	}{{true, false}, {false, false}, {false, true}, {true, true}} {
		t.Run(fmt.Sprint(tt), func(t *testing.T) {
			w := newWorld(t, 16_384)
			strategy := func(summarise bool) {
				if w.request.Pass = nil; summarise {
					w.request.Pass = extractive
				}
			}
			strategy(tt.large)
			for n := 0; n < 20 || w.last.Passes < 5; n++ {
				w.append(user(fmt.Sprintf("Part %d? ", n)+words(150)), agent(decision(n)+fmt.Sprintf(" Step %d was done. ", n)+words(500)))
				w.compile()
			}
			before := w.last
			if said, all := lineOf(before, budget.Said), lineOf(before, budget.Checkpoints); said < 1500 || tt.large && all < 1000 {
				t.Fatalf("the user's words take %d, the checkpoints %d", said, all)
			}
			strategy(tt.small)
			w.resize(4096)
			for n := range 3 {
				w.append(user(fmt.Sprint("Short ", n)), agent("ok"))
				p := w.compile()
				w.quoted(p)
				if got := lineOf(p, budget.Checkpoints); got > compress.Share(p.Window) {
					t.Errorf("the checkpoints take %d", got)
				}
			}
			if tt.large && !tt.small {
				kept := w.last.Checkpoints
				if n := len(kept); n >= len(before.Checkpoints) || n > 0 && kept[n-1] != before.Checkpoints[len(before.Checkpoints)-1] {
					t.Errorf("of %v stand %v", before.Checkpoints, kept)
				}
			}
			w.everythingSaid()
		})
	}
}

// everythingSaid checks that every message of the user is shown or named.
func (w *world) everythingSaid() {
	w.Helper()
	shown := map[int64]bool{}
	for _, m := range w.last.Messages {
		for _, seq := range m.Seqs {
			shown[seq] = true
		}
	}
	named := func(seq int64) bool {
		for _, h := range w.last.Paged {
			if h.From <= seq && seq <= h.To {
				return true
			}
		}
		return false
	}
	for seq := int64(1); seq < w.last.End; seq += 2 {
		if !shown[seq] && !named(seq) {
			w.Errorf("turn %d of the user is neither shown nor named: %v", seq, w.last.Paged)
		}
	}
}

// TestWhatIsOverGoesBeforeAPromptIsRefused leaves a window whose recent turns are one message: the system prompt grew,
// and the checkpoints are within their share.
func TestWhatIsOverGoesBeforeAPromptIsRefused(t *testing.T) {
	for _, summarise := range []bool{false, true} {
		w := summarised(newWorld(t, 4096))
		for w.last == nil || w.last.Passes < 6 {
			w.append(user("go on with "+words(30)), agent("It was done. "+words(150)))
			w.compile()
		}
		if len(w.last.Checkpoints) == 0 {
			t.Fatal("nothing stands for the turns that left")
		}
		if !summarise {
			w.request.Pass = nil
		}
		w.begin(prompt.Settings{System: words(2700)})
		w.append(user("short"), agent("ok"))
		p := w.compile()
		if p.Account.Free() < 0 || lineOf(p, budget.Checkpoints) > 200 {
			t.Errorf("summaries %t: %+v", summarise, p.Account)
		}
	}
}
