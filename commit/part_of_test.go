package commit_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// No turn is part of two exchanges: what an exchange took in opens no other one, and what came after it does.
func TestATurnInsideAnExchangeOpensNone(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{})
		first, second := w.said("Buy bread."), w.said("And milk.")
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
		w.commit(commit.Exchange{Opened: w.said("Thanks.")})
	})
}

// A summary that is none of an exchange makes its turns part of none.
func TestOtherSummariesAreNoExchanges(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{})
		w.commit(talk("hello", "hi"))
		w.said("Buy bread.")
		waiting := w.said("And milk.")
		w.summed(turn.Range{From: 1, To: 5}, "checkpoint-1")
		w.summed(turn.Range{From: 4, To: 5}, "")
		w.commit(commit.Exchange{Opened: waiting, Turns: talk("", "Yes.").Turns[1:]})
	})
}

// What a fork inherits was committed by its parent: the fork may go on from it as it likes.
func TestAForkMayGoOnInsideAnExchangeOfItsParent(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{})
		res := w.commit(talk("hello", "hi"))
		fork := turn.Key{Tenant: key.Tenant, Session: "fork"}
		w.update(func(tx store.Tx) error {
			info, err := tx.Log().Session(t.Context(), key)
			if err != nil {
				return err
			}
			_, err = turn.Fork(t.Context(), tx.Log(), key, info.Head, turn.SessionInfo{Key: fork}, tx.Now())
			return err
		})
		if _, err := w.pipeline.Commit(t.Context(), fork, commit.Exchange{Opened: res.Turns[1].ID, Turns: talk("again", "").Turns[:1]}); err != nil {
			t.Error(err)
		}
	})
}

// summed appends a summary without a commit.
func (w *world) summed(covers turn.Range, messageID string) {
	w.Helper()
	d := turn.Draft{
		ID: w.config.NewID(), Role: turn.System, Kind: turn.KindSummary, Content: turn.Text{Text: "They spoke."}, Covers: covers, MessageID: messageID,
	}
	sealed, err := d.Seal(turn.Limits{Text: 100, Blob: 1, Calls: 1})
	if err != nil {
		w.Fatal(err)
	}
	w.update(func(tx store.Tx) error {
		_, err := turn.Append(w.Context(), tx.Log(), key, tx.Now(), sealed)
		return err
	})
}
