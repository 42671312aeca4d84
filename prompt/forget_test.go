package prompt_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// forget makes a turn a tombstone and opens the epoch that follows.
func (w *world) forget(seq int64) {
	w.Helper()
	w.update(func(tx store.Tx) error {
		info, err := tx.Log().Session(w.Context(), w.key)
		if err != nil {
			return err
		}
		turns, err := store.Rewritable("turns", store.Among{Segments: []int64{}})
		if err != nil {
			return err
		}
		at, content := turns.Position("seq"), turns.Position("content")
		_, err = tx.Forgetting().Rewrite(w.Context(), info.Tenant, "turns", store.Among{Segments: []int64{info.Segment}}, func(row []any) (store.Verdict, error) {
			if row[at].(int64) != seq {
				return store.Keep, nil
			}
			row[content] = string(turn.AppendContent(nil, turn.Forgotten{}))
			return store.Change, nil
		})
		return err
	})
	w.reopen(func(e *prompt.Epoch) {
		e.Number--
		*e = e.Forgetting(e.AfterSeq, false, func(s int64) bool { return s == seq })
	})
}

// TestWhatWasForgottenIsQuotedOfWhoElseSaidIt forgets the turn that a decision is quoted of, or that is named for it:
// the same words are quoted once, and another turn said them too.
func TestWhatWasForgottenIsQuotedOfWhoElseSaidIt(t *testing.T) {
	named := func(w *world) {
		w.reopen(func(e *prompt.Epoch) { e.Quotes, e.Unquoted = e.Quotes[1:], []turn.Range{{From: 1, To: 2}} })
	}
	for name, then := range map[string]func(*world){
		"quoted":   func(*world) {},
		"named":    named,
		"goal too": func(w *world) { w.request.Goal = fullGoal() },
		"back": func(w *world) {
			w.request.Back = &prompt.Back{Epoch: w.epoch(), Reason: prompt.ReasonUndo}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 4096)
			w.append(user("begin"), agent(decision(1)+" Anna lives here."), agent(decision(2)), agent("As I said. "+decision(1)))
			w.moveOn()
			w.moveOn()
			then(w)
			w.forget(2)
			p := w.compile()
			if want := "\n[3] " + decision(2) + "\n[4] " + decision(1); !strings.Contains(quoteNote(p), want) || strings.Contains(quoteNote(p), "no longer") {
				t.Errorf("opened %q: %s", p.Opened, quoteNote(p))
			}
			w.request.Back = nil
			if again := w.compile(); again.Opened != "" {
				t.Errorf("once more it opens an epoch: %q", again.Opened)
			}
			w.moveOn()
			w.quoted(w.last)
		})
	}
}

// TestForgettingTellsNothingOfAQuote keeps that something was quoted or named, and not how long it was.
func TestForgettingTellsNothingOfAQuote(t *testing.T) {
	e := prompt.Epoch{
		Number: 3, From: 20,
		Quotes:   []prompt.Quote{{Turn: 4, From: 3, To: 20}, {Turn: 6, From: 2, To: 9, Tokens: 90}, {Turn: 9, To: 5}, {Turn: 9, From: 8, To: 19}},
		Unquoted: []turn.Range{{From: 1, To: 3}, {From: 10, To: 12}},
	}
	got := e.Forgetting(30, false, func(seq int64) bool { return seq == 2 || seq == 3 || seq == 6 || seq == 9 })
	want := e
	want.Number, want.AfterSeq, want.Reason = 4, 30, prompt.ReasonForgot
	want.Quotes = []prompt.Quote{{Turn: 2, To: 1}, {Turn: 4, From: 3, To: 20}, {Turn: 6, To: 1}, {Turn: 9, To: 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
