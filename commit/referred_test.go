package commit_test

import (
	"slices"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/internal/faulty"
)

// An export whose goals and actions are put off tells of those that refer to a goal that is finished, under the ids that they get.
func TestWhatRefersToFinishedGoalsIsToldAsItWillBe(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{Retries: []time.Duration{time.Hour}})
	ex := talk("one", "two")
	ex.Intentions.Goals = []cortex.GoalChange{{ID: "done", Title: ptr("Done"), Status: ptr(cortex.GoalCompleted)}}
	w.commit(ex)
	faults := faulty.New(w.store)
	w.withStore(faults)
	faults.Set(failAt("InsertVersion"))
	ex = talk("three", "four")
	ex.Intentions.Actions = []cortex.ActionChange{{Title: ptr("x"), GoalID: ptr("done")}, {Title: ptr("y")}}
	res := w.commit(ex)
	faults.Set(nil)
	told := w.export(res.ExportID).Cortex.UpdatedActions
	if len(res.Deferred) != 1 || len(told) != 2 {
		t.Fatalf("put off %v, told of %v, want both actions", res.Deferred, told)
	}
	w.settleDeferrals()
	actions := w.intentions().Actions()
	slices.SortFunc(actions, func(a, b cortex.PendingAction) int { return len(a.GoalID) - len(b.GoalID) })
	if len(actions) != 2 || actions[1].ID != told[0].ID || actions[0].ID != told[1].ID {
		t.Errorf("the actions are %+v, told was of %v", actions, told)
	}
}
