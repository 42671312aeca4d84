package commit_test

import (
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/scratch"
)

// The export tells of what is put off what will come of it: nothing of goals that are finished and notes that are archived.
func TestTheExportTellsWhatWillComeOfWhatIsPutOff(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{Retries: []time.Duration{time.Hour}})
		ex := talk("q1", "a1")
		ex.Intentions.Goals = []cortex.GoalChange{{ID: "g", Title: ptr("Goal"), Status: ptr(cortex.GoalCompleted)}}
		ex.Intentions.Actions = []cortex.ActionChange{{ID: "x", Title: ptr("do"), Status: ptr(cortex.ActionCancelled)}}
		ex.Scratch.Put = []scratch.Change{{ID: "o", Type: ptr("x"), Content: ptr("c"), Status: ptr(scratch.Archived)}}
		w.commit(ex)
		faults := faulty.New(w.store)
		w.withStore(faults)
		faults.Set(func(at string) error {
			if at == "InsertVersion" || at == "PutObservation" {
				return errPlanted
			}
			return nil
		})
		// The second of them is not even tried: it waits.
		for _, n := range []string{"2", "3"} {
			ex = talk("q"+n, "a"+n)
			ex.Intentions.Goals = []cortex.GoalChange{{ID: "g", Title: ptr("Again")}, {ID: "other" + n, Title: ptr("Other" + n)}}
			ex.Intentions.Actions = []cortex.ActionChange{{ID: "x", Title: ptr("again")}}
			ex.Scratch.Put = []scratch.Change{{ID: "o", Type: ptr("x"), Content: ptr("again")}, {ID: "p" + n, Type: ptr("x"), Content: ptr("p")}}
			res := w.commit(ex)
			if len(res.Deferred) != 2 {
				t.Fatalf("put off %v", res.Deferred)
			}
			told := w.export(res.ExportID)
			if got := told.Cortex.UpdatedGoals; len(got) != 1 || got[0].ID != "other"+n || len(told.Cortex.UpdatedActions) != 0 {
				t.Errorf("%s tells of goals %v and actions %v", n, got, told.Cortex.UpdatedActions)
			}
			if got := told.Scratch.Updated; len(got) != 1 || got[0].ID != "p"+n {
				t.Errorf("%s tells of notes %v", n, got)
			}
		}
		faults.Set(nil)
		w.settleAll()
		if g, _ := w.intentions().Goal("g"); g.Title != "Goal" {
			t.Errorf("the goal that was completed is %+v", g)
		}
	})
}
