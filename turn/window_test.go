package turn_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/internal/turngen"
	"github.com/turnstone-dev/turnstone/turn"
)

func seqs(turns []turn.Turn) []int64 {
	out := make([]int64, len(turns))
	for i := range turns {
		out[i] = turns[i].Seq
	}
	return out
}

func TestAWindowThatIsKeptEqualsOneMadeOfTheHistoryAtEveryStep(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newBook(rt)
		recent := func() []turn.Turn { return b.history(rt, turn.HistoryOptions{Turns: turn.WindowSize}) }
		kept := turn.NewWindow(nil)
		for _, d := range turngen.Log(40).Draw(rt, "log") {
			if rapid.IntRange(0, 9).Draw(rt, "remake") == 0 {
				kept = turn.NewWindow(recent())
			}
			u := b.append(rt, d)[0]
			if !kept.Push(u) {
				if _, result := u.Content.(turn.Result); !result {
					rt.Fatalf("turn %d is no result and was refused", u.Seq)
				}
				kept = turn.NewWindow(recent())
			}
			history := recent()
			made := turn.NewWindow(history)
			same(rt, fmt.Sprintf("window after turn %d", u.Seq), kept.Last(turn.WindowSize), history)
			for n := range turn.WindowSize + 2 {
				few := seqs(b.history(rt, turn.HistoryOptions{Turns: min(n, turn.WindowSize)}))
				if !slices.Equal(seqs(kept.Last(n)), few) || !slices.Equal(seqs(made.Last(n)), few) {
					rt.Errorf("last %d after turn %d: %v kept, %v made, want %v", n, u.Seq, seqs(kept.Last(n)), seqs(made.Last(n)), few)
				}
			}
		}
	})
}

func TestAWindowRefusesAResultWhoseCallItHasNotSeen(t *testing.T) {
	b := newBook(t)
	turns := b.append(t, said(turn.User, "go"), turn.Draft{Role: turn.Agent, Content: call("a", "f", "{}")})
	w := turn.NewWindow(b.history(t, turn.HistoryOptions{Turns: turn.WindowSize}))
	same(t, "the open call is not shown", seqs(w.Last(7)), []int64{1})
	result := b.append(t, turn.Draft{Role: turn.System, Content: turn.Result{Name: "f", CallID: "a", Status: turn.CallOK}})[0]
	if w.Push(result) {
		t.Error("a result without its call was taken")
	}
	same(t, "nothing changed", seqs(w.Last(7)), []int64{1})
	if !w.Push(turns[1]) || !w.Push(result) {
		t.Error("a call and its result were refused")
	}
	same(t, "both are shown", seqs(w.Last(7)), []int64{1, 2, 3})
	if w.Push(result) {
		t.Error("a result of a finished unit was taken")
	}
}

func TestAWindowHoldsTheLastSevenUtterances(t *testing.T) {
	b := newBook(t)
	w := turn.NewWindow(nil)
	for i := range 10 {
		for _, u := range b.append(t, said(turn.User, fmt.Sprint("question ", i)), said(turn.System, "note"), turn.Draft{Role: turn.User, Content: turn.Action{Name: "click"}}) {
			w.Push(u)
		}
	}
	same(t, "window", seqs(w.Last(100)), []int64{10, 13, 16, 19, 22, 25, 28})
	same(t, "less", seqs(w.Last(2)), []int64{25, 28})
	same(t, "none", w.Last(0), []turn.Turn(nil))
	same(t, "less than none", w.Last(-1), []turn.Turn(nil))
}

func TestWhatAWindowReturnsIsTheCallers(t *testing.T) {
	b := newBook(t)
	history := b.append(t, said(turn.User, "one"), said(turn.Agent, "two"))
	w := turn.NewWindow(history)
	history[0].Seq = 99
	got := append(w.Last(7), turn.Turn{Seq: 100})
	got[1].Seq = 99
	same(t, "window", seqs(w.Last(7)), []int64{1, 2})
}

func TestReadingAWindowAllocatesTheAnswerAndNothingElse(t *testing.T) {
	b := newBook(t)
	w := turn.NewWindow(nil)
	for range 5 {
		for _, u := range b.append(t, said(turn.User, "q"), turn.Draft{Role: turn.Agent, Content: call("a", "f", "{}")},
			turn.Draft{Role: turn.System, Content: turn.Result{Name: "f", CallID: "a", Status: turn.CallOK}}) {
			w.Push(u)
		}
	}
	for _, n := range []int{1, 3, turn.WindowSize, 100} {
		if allocs := testing.AllocsPerRun(100, func() { w.Last(n) }); allocs > 1 {
			t.Errorf("last %d: %v allocations", n, allocs)
		}
	}
}
