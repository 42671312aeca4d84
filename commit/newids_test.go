package commit_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
)

// Daemons are told of what was put off before it is written: it is written under the ids that they know.
func TestWhatWasPutOffIsWrittenAsItWasTold(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{Retries: []time.Duration{time.Hour}})
		w.commit(everything(1))
		faults := faulty.New(w.store)
		w.withStore(faults)
		faults.Set(func(at string) error {
			if at == "InsertVersion" || at == "PutObservation" {
				return errPlanted
			}
			return nil
		})
		ex := talk("q2", "a2")
		// The first of each are refused. Without an id the next goal is the one of that title, which is there.
		ex.Intentions.Goals = []cortex.GoalChange{{Description: ptr("no title")}, {Title: ptr("Goal\xff")}, {Title: ptr("Goal"), Progress: ptr(0.5)}, {Title: ptr("First")}, {ID: "named", Title: ptr("Named")}, {Title: ptr("Last")}}
		ex.Intentions.Actions = []cortex.ActionChange{{Owner: ptr(cortex.OwnerUser)}, {ID: "a", Type: ptr(cortex.Reminder), Title: ptr("write")}, {Type: ptr(cortex.Reminder), Title: ptr("call")}}
		ex.Scratch.Put = []scratch.Change{{Type: ptr("no content")}, {ID: "o1", Content: ptr("old")}, {Type: ptr("alert"), Content: ptr("new")}}
		res := w.commit(ex)
		faults.Set(nil)
		if want := []commit.Target{commit.Cortex, commit.Scratch}; !slices.Equal(res.Deferred, want) {
			t.Fatalf("put off %v", res.Deferred)
		}
		w.settleAll()
		told, goals := w.export(res.ExportID), w.intentions()
		for i, title := range []string{"Goal", "First", "Named", "Last"} {
			if g, ok := goals.Goal(told.Cortex.UpdatedGoals[i].ID); !ok || g.Title != title {
				t.Errorf("goal %s is told as %s, under which there is %+v", title, told.Cortex.UpdatedGoals[i].ID, g)
			}
		}
		for i, title := range []string{"write", "call"} {
			if a, ok := goals.Action(told.Cortex.UpdatedActions[i].ID); !ok || a.Title != title {
				t.Errorf("action %s is told as %s, under which there is %+v", title, told.Cortex.UpdatedActions[i].ID, a)
			}
		}
		for i, content := range []string{"old", "new"} {
			if o, ok := w.page().Observation(told.Scratch.Updated[i].ID); !ok || o.Content != content {
				t.Errorf("the note %q is told as %s, under which there is %+v", content, told.Scratch.Updated[i].ID, o)
			}
		}
	})
}

// What was put off is written under the ids that were told also where something of it comes to something else by then.
func TestWhatComesToSomethingElseTakesNoIDsThatWereTold(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{Retries: []time.Duration{time.Hour}})
	faults := faulty.New(w.store)
	w.withStore(faults)
	faults.Set(failAt("InsertVersion"))
	ex := talk("q", "a")
	ex.Intentions.Goals = []cortex.GoalChange{{Title: ptr("First")}, {Title: ptr("Second")}}
	told := w.export(w.commit(ex).ExportID).Cortex.UpdatedGoals
	faults.Set(nil)
	w.update(func(tx store.Tx) error {
		info, err := tx.Log().LockSession(t.Context(), key)
		if err != nil {
			return err
		}
		staged := cortex.Live().Stage(cortex.Changes{Goals: []cortex.GoalChange{{ID: "theirs", Title: ptr("First")}}}, tx.Now(), nil)
		return cortex.Write(t.Context(), tx.Cortex(), key.Tenant, info.Segment, info.Head, staged)
	})
	w.settleAll()
	goals := w.intentions()
	if g, ok := goals.Goal(told[1].ID); !ok || g.Title != "Second" || len(goals.Goals()) != 2 {
		t.Errorf("told was of %v, there are %+v", told, goals.Goals())
	}
}

// What is staged again, since somebody changed goals or notes meanwhile, has the ids that it was first given.
func TestWhatIsStagedAgainKeepsItsIDs(t *testing.T) {
	drawn := func(disturbed bool) (given []string) {
		var w *world
		source, disturb := ids.New(nil), false
		w = newWorldOnMem(t, commit.Config{
			NewID: func() string {
				id := source.Next(time.Now())
				given = append(given, id)
				return id
			},
			Evaluator: commit.EvaluateFunc(func(ctx context.Context, s *commit.Situation) (commit.Assessment, error) {
				if disturb {
					w.update(func(tx store.Tx) error {
						w.pipeline.Changed(key)
						return nil
					})
				}
				return commit.Rules{}.Evaluate(ctx, s)
			}),
		})
		w.commit(everything(1))
		given, disturb = nil, disturbed
		ex := talk("q2", "a2")
		ex.Intentions.Goals = []cortex.GoalChange{{Title: ptr("New")}}
		ex.Scratch.Put = []scratch.Change{{Type: ptr("alert"), Content: ptr("new")}}
		res := w.commit(ex)
		told := w.export(res.ExportID)
		for _, u := range slices.Concat(told.Cortex.UpdatedGoals, told.Scratch.Updated) {
			if !slices.Contains(given, u.ID) {
				t.Errorf("%s was not given here", u.ID)
			}
		}
		return given
	}
	if alone, disturbed := drawn(false), drawn(true); len(alone) != len(disturbed) {
		t.Errorf("%d ids were given, and %d where it was staged again", len(alone), len(disturbed))
	}
}
