package commit_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// No turn is part of two exchanges: what an exchange took in opens no other one, and what came after it does.
func TestATurnInsideAnExchangeOpensNone(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{})
		first, second := w.say("Buy bread.").ID, w.say("And milk.").ID
		res := w.commit(commit.Exchange{Opened: first, Turns: talk("", "Yes.").Turns[1:]})
		before := w.turns()
		for _, id := range []string{second, res.Turns[0].ID} {
			_, err := w.pipeline.Commit(t.Context(), key, commit.Exchange{Opened: id})
			if !errors.Is(err, turn.ErrConflict) || !strings.Contains(err.Error(), id) || !strings.Contains(err.Error(), res.ExportID) {
				t.Errorf("%v", err)
			}
		}
		if after := w.turns(); len(after) != len(before) {
			t.Errorf("the log grew: %q", after)
		}
		w.commit(commit.Exchange{Opened: w.say("Thanks.").ID})
	})
}

// So it is while the exchange waits to be written, also for another process, and its turns are left out of others.
func TestATurnInsideAnExchangeThatWaitsOpensNone(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{Retries: []time.Duration{time.Hour}})
		faults := faulty.New(w.store)
		w.withStore(faults)
		long, first, second := w.say("LONG TASK please").ID, w.say("Buy bread.").ID, w.say("And milk.").ID
		faults.Set(failAt("InsertTurns"))
		ex := commit.Exchange{Opened: first, Turns: talk("", "Yes.").Turns[1:]}
		ex.Turns = append(ex.Turns, greeting("k").Turns[0])
		res := w.commit(ex)
		faults.Set(nil)
		for name, ex := range map[string]commit.Exchange{"by its id": {Opened: second}, "by its key": greeting("k")} {
			if _, err := w.pipeline.Commit(t.Context(), key, ex); !errors.Is(err, turn.ErrConflict) || !strings.Contains(err.Error(), res.ExportID) {
				t.Errorf("%s: %v", name, err)
			}
		}
		late := w.export(w.commit(commit.Exchange{Opened: long, Turns: talk("", "Done.").Turns[1:]}).ExportID)
		if late.Turn.UserInput != "LONG TASK please" || len(late.TurnIDs) != 2 {
			t.Errorf("it tells of %q", late.Turn.UserInput)
		}
		w.settleAll()
		if _, err := w.pipeline.Commit(t.Context(), key, greeting("k")); !errors.Is(err, turn.ErrConflict) || !strings.Contains(err.Error(), res.ExportID) {
			t.Errorf("by its key, once it is written: %v", err)
		}
	})
}

// Two processes take in the same turn at the same time: it is told of once.
func TestATurnThatAnotherProcessTookInMeanwhile(t *testing.T) {
	onSharedStores(t, func(t *testing.T, open func(commit.Config) *world) {
		other := open(commit.Config{Retries: []time.Duration{time.Hour}})
		faults := faulty.New(other.store)
		other.withStore(faults)
		var first, second string
		w := open(meanwhile(func() {
			faults.Set(failAt("InsertTurns"))
			other.commit(commit.Exchange{Opened: first, Turns: talk("", "Yes.").Turns[1:]})
			faults.Set(nil)
		}))
		first, second = w.say("Buy bread.").ID, w.say("And milk.").ID
		if _, err := w.pipeline.Commit(t.Context(), key, commit.Exchange{Opened: second, Turns: talk("", "No.").Turns[1:]}); !errors.Is(err, turn.ErrConflict) {
			t.Error(err)
		}
		other.settleAll()
	})
}

// A summary that is none of an exchange makes its turns part of none.
func TestOtherSummariesAreNoExchanges(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{})
		w.commit(talk("hello", "hi"))
		w.say("Buy bread.")
		waiting := w.say("And milk.").ID
		w.summed(turn.Range{From: 1, To: 5}, "checkpoint-1")
		w.summed(turn.Range{From: 4, To: 5}, "")
		w.commit(commit.Exchange{Opened: waiting, Turns: talk("", "Yes.").Turns[1:]})
	})
}

// A fork goes on from what its parent committed, and may end in another way what was not over where it began.
func TestAForkAnswersWhatItDidNotInheritTheAnswerOf(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{})
		asked := w.say("hello").ID
		res := w.commit(commit.Exchange{Opened: asked, Turns: talk("", "hi").Turns[1:]})
		for at, answered := range map[int64]bool{1: false, 3: true} {
			fork := turn.Key{Tenant: key.Tenant, Session: fmt.Sprint("fork-", at)}
			w.update(func(tx store.Tx) error {
				_, err := turn.Fork(t.Context(), tx.Log(), key, at, turn.SessionInfo{Key: fork}, tx.Now())
				return err
			})
			for _, opened := range []string{asked, res.Turns[0].ID} {
				_, err := w.pipeline.Commit(t.Context(), fork, commit.Exchange{Opened: opened, Turns: talk("", "good day").Turns[1:]})
				switch {
				case answered && (!errors.Is(err, turn.ErrConflict) || !strings.Contains(err.Error(), res.ExportID)):
					t.Errorf("what was answered before the fork: %v", err)
				case !answered && (err == nil) != (opened == asked):
					t.Errorf("what was answered after the fork: %v", err)
				}
			}
		}
	})
}

// summed appends a summary without a commit.
func (w *world) summed(covers turn.Range, messageID string) {
	w.Helper()
	w.append(turn.Draft{Role: turn.System, Kind: turn.KindSummary, Content: turn.Text{Text: "They spoke."}, Covers: covers, MessageID: messageID})
}
