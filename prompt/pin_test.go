package prompt_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestTheLastRowAboutATurnHolds(t *testing.T) {
	for _, tt := range []struct{ rows, want []int64 }{
		{nil, nil},
		{[]int64{5, 2, 9}, []int64{2, 5, 9}},
		{[]int64{5, 5}, []int64{5}},
		{[]int64{5, -5}, []int64{}},
		{[]int64{-5, 2}, []int64{2}},
		{[]int64{5, 2, -5, 7, -2, 5}, []int64{5, 7}},
	} {
		var rows []prompt.PinRow
		for i, seq := range tt.rows {
			rows = append(rows, prompt.PinRow{Number: int64(i + 1), Seq: max(seq, -seq), Pinned: seq > 0})
		}
		if got := prompt.PinnedIn(rows); !slices.Equal(got, tt.want) {
			t.Errorf("%v: %v, want %v", tt.rows, got, tt.want)
		}
	}
}

func TestOnlyTurnsThatPromptsShowCanBePinned(t *testing.T) {
	w := newWorld(t, 2048)
	w.append(user("one"), summary(1), call("a"))
	check := func(seq int64) error {
		return w.view(func(tx store.Tx, info turn.SessionInfo) error {
			return prompt.CheckPin(t.Context(), w.faults.log(tx.Log()), &info, seq)
		})
	}
	for seq, want := range map[int64]error{0: turn.ErrNotFound, 1: nil, 3: nil, 4: turn.ErrNotFound, -1: turn.ErrNotFound} {
		if err := check(seq); !errors.Is(err, want) {
			t.Errorf("turn %d: %v, want %v", seq, err, want)
		}
	}
	var field *invalid.Field
	if err := check(2); !errors.As(err, &field) || field.Name != "turn" || field.Fix == "" {
		t.Errorf("a summary: %v", err)
	}
	w.faults.fail = failing("Scan", 0)
	if err := check(1); !errors.Is(err, errFault) {
		t.Error(err)
	}
}

// moveOn lets the agent talk until another epoch is opened.
func (w *world) moveOn() *prompt.Prompt {
	w.Helper()
	for range 60 {
		w.append(agent(words(60)))
		if p := w.compile(); p.Opened == prompt.ReasonFull {
			return p
		}
	}
	w.Fatal("no epoch was opened")
	return nil
}

func TestAPinOfAHiddenTurnOpensAnEpoch(t *testing.T) {
	w := newWorld(t, 4096)
	w.append(agent("alpha"), agent("beta"), user("gamma"))
	w.compile()
	w.pin(2) // it is shown
	if p := w.compile(); p.Opened != "" {
		t.Errorf("a pin of a turn that is shown opened %q", p.Opened)
	}
	w.moveOn()
	want := append(kept(prompt.Pinned, 2), kept(prompt.Said, 3)...)
	if diff := cmp.Diff(want, w.epoch().Kept); diff != "" {
		t.Fatal(diff)
	}
	from := w.epoch().From
	w.pin(3) // it is kept
	w.pin(from)
	if p := w.compile(); p.Opened != "" {
		t.Errorf("a pin of a turn that is shown opened %q", p.Opened)
	}
	w.pin(1)
	p := w.compile()
	if p.Opened != prompt.ReasonPin || lineOf(p, budget.Pins) == 0 || lineOf(p, budget.Said) != 0 {
		t.Errorf("opened %q: %+v", p.Opened, p.Account.Lines)
	}
	e := w.epoch()
	if diff := cmp.Diff(kept(prompt.Pinned, 1, 2, 3), e.Kept); diff != "" || e.From != from || e.Reason != prompt.ReasonPin || e.Passes != 1 {
		t.Errorf("%+v %s", e, diff)
	}
	if got := shown(p)[:4]; !slices.Equal(got, []int64{1, 2, 3, from}) {
		t.Errorf("it shows %v", got)
	}
	// Unpinning is folded in with the next epoch.
	w.pin(-1)
	w.pin(-3)
	if p := w.compile(); p.Opened != "" {
		t.Errorf("unpinning opened %q", p.Opened)
	}
	w.moveOn()
	want = slices.Concat(kept(prompt.Pinned, 2), kept(prompt.Said, 3), kept(prompt.Pinned, from))
	if diff := cmp.Diff(want, w.epoch().Kept); diff != "" {
		t.Error(diff)
	}
}

func TestAPinShowsTheWholeUnitOrMessage(t *testing.T) {
	w := newWorld(t, 4096)
	w.append(call("a", "b"), agent("meanwhile"), result("b", "beta"), result("a", "alpha")) // 1–4
	w.append(part("m", "one"), part("m", "two"), part("m", "three"), part("n", "other"), user("last"))
	w.compile()
	w.moveOn()
	w.pin(3)
	w.pin(4) // of the same unit
	w.pin(6)
	p := w.compile()
	want := append([]prompt.Kept{
		{Range: turn.Range{From: 1, To: 4}, Why: prompt.Pinned}, {Range: turn.Range{From: 5, To: 7}, Why: prompt.Pinned},
	}, kept(prompt.Said, 8, 9)...)
	if diff := cmp.Diff(want, w.epoch().Kept); diff != "" {
		t.Error(diff)
	}
	wantLines(t, said(p)[1:7],
		"assistant: →call_1_1 →call_1_2", "tool: alpha ←call_1_1", "tool: beta ←call_1_2", "user: one two three", "user: other", "user: last",
	)
}

// TestPartsWithUnshownTurnsBetweenThemAreOneMessage has what no prompt shows, or shows elsewhere, in the middle of
// a message.
func TestPartsWithUnshownTurnsBetweenThemAreOneMessage(t *testing.T) {
	for _, tt := range []struct {
		name  string
		pin   int64
		whole turn.Range
		turns []turn.Draft
	}{
		{"a summary", 0, turn.Range{From: 1, To: 3}, []turn.Draft{part("m", "one"), summary(1), part("m", "two")}},
		{"a summary, pinned", 1, turn.Range{From: 1, To: 3}, []turn.Draft{part("m", "one"), summary(1), part("m", "two")}},
		{"an open call", 3, turn.Range{From: 1, To: 3}, []turn.Draft{part("m", "one"), call("a"), part("m", "two"), result("a", "x")}},
		{"a result of an open call", 2, turn.Range{From: 2, To: 4}, []turn.Draft{call("a", "b"), part("m", "one"), result("a", "x"), part("m", "two"), result("b", "x")}},
		{"the last result", 4, turn.Range{From: 4, To: 4}, []turn.Draft{call("a"), part("m", "one"), result("a", "x"), part("m", "two")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, 2048)
			w.append(tt.turns...)
			w.compile()
			if tt.pin != 0 {
				w.pin(tt.pin)
			}
			for range 3 {
				p := w.moveOn()
				seqs := shown(p)
				slices.Sort(seqs)
				if compact := slices.Compact(slices.Clone(seqs)); len(compact) != len(seqs) {
					t.Fatalf("turns are shown twice: %v", seqs)
				}
			}
			if !slices.ContainsFunc(w.epoch().Kept, func(k prompt.Kept) bool { return k.Range == tt.whole }) {
				t.Errorf("kept is %v, want %v", w.epoch().Kept, tt.whole)
			}
		})
	}
}

func TestAPinOfAUnitThatWaitsIsShownOnceItIsWhole(t *testing.T) {
	w := newWorld(t, 4096)
	w.append(user("go"), call("slow", "fast"), result("fast", "quick"))
	w.compile()
	w.moveOn()
	w.pin(2)
	w.pin(3)
	if p := w.compile(); p.Opened != "" || slices.Contains(shown(p), 2) {
		t.Errorf("opened %q: %v", p.Opened, shown(p))
	}
	last := w.append(result("slow", "at last"))
	p := w.compile()
	if seqs := shown(p); p.Opened != "" || !slices.Equal(seqs[len(seqs)-3:], []int64{2, last, 3}) {
		t.Errorf("opened %q: %v", p.Opened, seqs)
	}
	w.moveOn()
	w.moveOn()
	want := append(kept(prompt.Said, 1), prompt.Kept{Range: turn.Range{From: 2, To: last}, Why: prompt.Pinned})
	if diff := cmp.Diff(want, w.epoch().Kept); diff != "" {
		t.Error(diff)
	}
	if p := w.compile(); p.Opened != "" {
		t.Errorf("opened %q", p.Opened)
	}
}

// TestAPinThatIsShownIsNoReasonFromFarBehind has the pinned unit end in this epoch, but before what is read.
func TestAPinThatIsShownIsNoReasonFromFarBehind(t *testing.T) {
	w := newWorld(t, 2048)
	w.append(user("go"), call("slow"))
	w.compile()
	w.moveOn()
	w.pin(2)
	w.grow(result("slow", "at last"))
	w.grow(talk(2000)...)
	w.last = nil
	if p := w.compile(); p.Opened != prompt.ReasonFull {
		t.Errorf("opened %q", p.Opened)
	}
}

func TestPinsThatCannotFitAreRefused(t *testing.T) {
	w := newWorld(t, 2048)
	for range 20 {
		w.append(agent(words(100)))
	}
	w.compile()
	for seq := range int64(15) {
		w.pin(seq + 1)
	}
	var over *budget.OverBudgetError
	if _, err := w.try(nil); !errors.As(err, &over) {
		t.Fatal(err)
	}
	if i := slices.IndexFunc(over.Account.Lines, func(l budget.Line) bool { return l.Part == budget.Pins }); over.Account.Lines[i].Count.Tokens < 1500 {
		t.Errorf("%+v", over.Account.Lines)
	}
}
