package commit_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/scratch"
)

// TestWhatChangedIsTold: who makes a goal without an id learns it from the commit, and what it is now.
func TestWhatChangedIsTold(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	ex := talk("plan it", "planned")
	ex.Intentions.Goals = []cortex.GoalChange{{Title: ptr("Move")}, {ID: "g", Title: ptr("Pack")}, {ID: "nope", Progress: ptr(0.5)}}
	ex.Intentions.Actions = []cortex.ActionChange{{Type: ptr(cortex.AgentTask), Title: ptr("Find boxes")}}
	ex.Scratch.Put = []scratch.Change{{ID: "o", Type: ptr("idea"), Content: ptr("ask the neighbours")}}
	res := w.commit(ex)
	if len(res.Changed) != 4 {
		t.Fatalf("changed %+v", res.Changed)
	}
	made, action := res.Changed[0].ID, res.Changed[2].ID
	want := []commit.Changed{
		{Kind: "goal", ID: made, Title: "Move", Status: "active"}, {Kind: "goal", ID: "g", Title: "Pack", Status: "active"},
		{Kind: "action", ID: action, Title: "Find boxes", Status: "open"}, {Kind: "observation", ID: "o", Title: "ask the neighbours", Status: "active"},
	}
	if diff := cmp.Diff(want, res.Changed); diff != "" {
		t.Error(diff)
	}
	if goal, ok := w.intentions().Goal(made); !ok || goal.Title != "Move" {
		t.Errorf("goal %q is %+v", made, goal)
	}
	if a, ok := w.intentions().Action(action); !ok || a.Title != "Find boxes" {
		t.Errorf("action %q is %+v", action, a)
	}

	ex = talk("done", "fine")
	ex.Intentions.Goals = []cortex.GoalChange{{ID: made, Status: ptr(cortex.GoalCompleted)}}
	ex.ExportID, ex.Scratch.Put = w.config.NewID(), []scratch.Change{{ID: "o", Status: ptr(scratch.Archived)}, {ID: "p", Type: ptr("idea"), Content: ptr("rent a van")}}
	want = []commit.Changed{{Kind: "goal", ID: made, Title: "Move", Status: "completed"}, {Kind: "observation", ID: "o", Status: "archived"},
		{Kind: "observation", ID: "p", Title: "rent a van", Status: "active"}}
	first, again := w.commit(ex).Changed, w.commit(ex).Changed
	if diff := cmp.Diff(want, first); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("sent again it is told otherwise: %s", diff)
	}

	ex = talk("which van", "the blue one")
	ex.ExportID, ex.Scratch.Archive = w.config.NewID(), []string{"p"}
	want = []commit.Changed{{Kind: "observation", ID: "p", Status: "archived"}}
	if diff := cmp.Diff([][]commit.Changed{want, want}, [][]commit.Changed{w.commit(ex).Changed, w.commit(ex).Changed}); diff != "" {
		t.Errorf("archived and sent again: %s", diff)
	}
}

// TestWhatIsPutOffHasNotChanged: it is told of where it is tried again.
func TestWhatIsPutOffHasNotChanged(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	ex := talk("plan it", "planned")
	ex.Intentions.Goals = []cortex.GoalChange{{ID: "g", Title: ptr("Move")}}
	ex.Scratch.Put = []scratch.Change{{ID: "o", Type: ptr("idea"), Content: ptr("ask the neighbours")}}
	res, _ := w.putOff(ex, "InsertVersion")
	if want := []commit.Changed{{Kind: "observation", ID: "o", Title: "ask the neighbours", Status: "active"}}; !cmp.Equal(want, res.Changed) {
		t.Errorf("changed %+v, put off %v", res.Changed, res.Deferred)
	}
}
