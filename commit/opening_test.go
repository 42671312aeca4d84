package commit_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// replies is an exchange that answers what is in the log.
func replies(opened, reply string) commit.Exchange {
	return commit.Exchange{Opened: opened, Turns: talk("", reply).Turns[1:]}
}

// once more.
func again(ex commit.Exchange) commit.Exchange {
	ex.Again = true
	return ex
}

// refuses fails where an exchange is not refused as a conflict that says so.
func (w *world) refuses(k turn.Key, ex commit.Exchange, says string) {
	w.Helper()
	if res, err := w.pipeline.Commit(w.Context(), k, ex); !errors.Is(err, turn.ErrConflict) || !strings.Contains(err.Error(), says) {
		w.Errorf("%+v, %v: want %q", res, err, says)
	}
}

// fork makes a fork of the session as it is.
func (w *world) fork(name string) turn.Key {
	w.Helper()
	k := turn.Key{Tenant: key.Tenant, Session: name}
	w.update(func(tx store.Tx) error {
		info, err := tx.Log().LockSession(w.Context(), key)
		if err != nil {
			return err
		}
		_, err = turn.Fork(w.Context(), tx.Log(), key, info.Head, turn.SessionInfo{Key: k}, tx.Now())
		return err
	})
	return k
}

// Only what failed is tried again, not a turn inside another exchange or one that nobody committed.
func TestWhatDidNotFailIsNotTriedAgain(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{})
		first, second := w.say("Buy bread.").ID, w.say("And milk.").ID
		w.refuses(key, again(replies(first, "Yes.")), "leave again out")
		res := w.commit(replies(first, "Yes."))
		for _, id := range []string{first, second, res.Turns[0].ID} {
			w.refuses(key, again(replies(id, "No.")), "")
		}
		w.refuses(key, again(replies(first, "No.")), "as export "+res.ExportID)
	})
}

// What failed and was answered since is told as answered, however it is asked for.
func TestWhatFailedAndWasAnsweredIsOver(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{})
		asked := w.say("hello").ID
		w.commit(commit.Exchange{Opened: asked, Failure: "model down"})
		answered := w.commit(again(replies(asked, "hi")))
		for _, ex := range []commit.Exchange{replies(asked, "good day"), again(replies(asked, "good day"))} {
			w.refuses(key, ex, "as export "+answered.ExportID)
		}
		fork := w.fork("fork")
		for _, ex := range []commit.Exchange{replies(asked, "good day"), again(replies(asked, "good day"))} {
			w.refuses(fork, ex, "as export "+answered.ExportID)
		}
	})
}

// A fork answers what failed in its parent and was not answered there before.
func TestAForkAnswersWhatFailedInItsParent(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{})
		asked := w.say("hello").ID
		w.commit(commit.Exchange{Opened: asked, Failure: "model down"})
		fork := w.fork("fork")
		w.commit(again(replies(asked, "hi")))
		w.refuses(fork, replies(asked, "good day"), "give again as true")
		if res, err := w.pipeline.Commit(t.Context(), fork, again(replies(asked, "good day"))); err != nil || !slices.Equal(w.export(res.ExportID).TurnIDs, []string{asked, res.Turns[0].ID}) {
			t.Errorf("%+v, %v", res, err)
		}
		w.refuses(fork, again(replies(asked, "good night")), "committed already")
	})
}

// What failed is not answered behind what waits to be written, nor while somebody else is at it.
func TestWhatFailedIsAnsweredWhileItIsTheLast(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{Retries: []time.Duration{time.Hour}})
		faults := faulty.New(w.store)
		w.withStore(faults)
		asked := w.say("hello").ID
		w.commit(commit.Exchange{Opened: asked, Failure: "model down"})
		answering := turn.OpenExchange{ExportID: w.config.NewID(), Opened: asked, Started: time.Now(), Changed: time.Now()}
		w.update(func(tx store.Tx) error { return tx.Log().PutExchange(t.Context(), key, answering) })
		w.refuses(key, again(replies(asked, "hi")), "is being answered, as export "+answering.ExportID)
		w.update(func(tx store.Tx) error { return tx.Log().DeleteExchange(t.Context(), key) })
		faults.Set(failAt("InsertTurns"))
		w.commit(talk("something else", "fine"))
		faults.Set(nil)
		w.refuses(key, again(replies(asked, "hi")), "was committed since")
		w.settleAll()
	})
}

// An exchange that is refused in its second run has a state for its end.
func TestAnExchangeThatIsRefusedAfterItsReplyHasFailed(t *testing.T) {
	onSharedStores(t, func(t *testing.T, open func(commit.Config) *world) {
		other := open(commit.Config{})
		w := open(meanwhile(func() { other.commit(talk("something else", "fine")) }))
		asked := w.say("hello").ID
		other.commit(commit.Exchange{Opened: asked, Failure: "model down"})
		w.refuses(key, again(replies(asked, "hi")), "was committed since")
		if n := len(w.states); n == 0 || w.states[n-1] != commit.Failed {
			t.Errorf("states %v", w.states)
		}
	})
}

// leave has the history go on at once behind the given turn, as a restore does.
func (w *world) leave(after int64) {
	w.Helper()
	w.update(func(tx store.Tx) error {
		info, err := tx.Log().LockSession(w.Context(), key)
		if err != nil {
			return err
		}
		e := prompt.Epoch{Number: 1, AfterSeq: info.Head, Renderer: 1, Reason: prompt.ReasonRestore, Path: []turn.Range{{From: 1, To: after}, {From: info.Head + 1}}, From: 1}
		w.pipeline.Changed(key)
		return tx.Prompt().InsertEpoch(w.Context(), key.Tenant, info.Segment, e.Row())
	})
}

// What a restore left behind is in no exchange, known by its key or left behind while it is answered: the history would have the answer alone.
func TestWhatARestoreLeftBehindIsNotAnswered(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		var w *world
		leaving := false
		w = open(commit.Config{Deadlines: patient, Evaluator: commit.EvaluateFunc(func(context.Context, *commit.Situation) (commit.Assessment, error) {
			if leaving {
				w.leave(3)
			}
			return commit.Assessment{Success: true}, nil
		})})
		w.commit(talk("a", "b"))
		w.greeted("k")
		asked := w.say("hello").ID
		leaving = true
		w.refuses(key, replies(asked, "hi"), "turn 5 of "+key.Session+" is not in the history any more")
		_, err := w.pipeline.Commit(t.Context(), key, greeting("k"))
		var field *invalid.Field
		if !errors.As(err, &field) || field.Name != "turns[0].idempotency_key" || !strings.Contains(err.Error(), "turn 4, which is not in the history") {
			t.Error(err)
		}
		if len(w.turns()) != 5 {
			t.Errorf("log %q", w.turns())
		}
	})
}
