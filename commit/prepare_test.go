package commit_test

import (
	"testing"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// What a commit makes before its update is made again where somebody appended in the meantime.
func TestTurnsThatWereAppendedBetweenCommits(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	w.commit(talk("first question", "first answer"))
	w.update(func(tx store.Tx) error {
		info, err := tx.Log().LockSession(t.Context(), key)
		if err != nil {
			return err
		}
		sealed, err := turn.Draft{ID: w.config.NewID(), Role: turn.User, Content: turn.Text{Text: "by the way"}}.Seal(turn.Limits{Text: 100, Blob: 1, Calls: 1})
		if err != nil {
			return err
		}
		_, err = turn.Extend(t.Context(), tx.Log(), info, tx.Now(), sealed)
		return err
	})
	for _, want := range []turn.Range{{From: 5, To: 6}, {From: 8, To: 9}} {
		res := w.commit(talk("next question", "next answer"))
		if got := res.Turns[len(res.Turns)-1].Covers; got != want {
			t.Errorf("the summary covers %v, want %v", got, want)
		}
		w.view(func(tx store.Tx, info turn.SessionInfo) error {
			digest, err := commit.LoadDigest(t.Context(), tx, info)
			if err != nil {
				return err
			}
			lines := digest.Rolling.Lines
			if last := lines[len(lines)-1]; digest.ThroughSeq != want.To || last.Seq != want.To {
				t.Errorf("the digest reaches turn %d, its last line %d, want %d", digest.ThroughSeq, last.Seq, want.To)
			}
			return nil
		})
	}
}
