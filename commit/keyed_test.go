package commit_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/turn"
)

// An exchange is known again by the key of its input while that waits to be written.
func TestAKeyedExchangeThatIsPutOffIsCommittedOnce(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{Retries: []time.Duration{time.Hour}})
		faults := faulty.New(w.store)
		w.withStore(faults)
		faults.Set(failAt("InsertTurns"))
		ex := everything(1)
		ex.Turns[0].IdempotencyKey = "k"
		first := w.commit(ex)
		faults.Set(nil)
		for range 2 {
			_, err := w.pipeline.Commit(t.Context(), key, ex)
			if !errors.Is(err, turn.ErrConflict) || !strings.Contains(err.Error(), first.ExportID) {
				t.Errorf("again: %v", err)
			}
		}
		w.settleAll()
		if got := w.there(1); got != allTargets {
			t.Errorf("%d of %d are there", got, allTargets)
		}
		// A turn that opened nothing is told under the id that it has, as one of the log is.
		faults.Set(failAt("InsertTurns"))
		ex = everything(2)
		ex.Turns[1].IdempotencyKey = "r"
		waits := w.export(w.commit(ex).ExportID).TurnIDs
		faults.Set(nil)
		ex = everything(3)
		ex.Turns[1] = turn.Draft{Role: turn.Agent, Content: turn.Text{Text: "a2"}, IdempotencyKey: "r"}
		third := w.export(w.commit(ex).ExportID)
		w.settleAll()
		said := slices.DeleteFunc(w.turns(), func(text string) bool { return strings.HasPrefix(text, "[") })
		if third.TurnIDs[1] != waits[1] || !slices.Equal(said, []string{"q1", "a1", "q2", "a2", "q3"}) {
			t.Errorf("the third exchange is told with %q, the turn has %s; the log reads %q", third.TurnIDs, waits[1], said)
		}
	})
}
