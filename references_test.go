package turnstone_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
)

// A parent or a goal_id that names no goal is refused by name, in a commit as every change that is not legal, and one that names a goal
// that is finished, or that the same exchange makes, is taken.
func TestReferencesThatNameNothing(t *testing.T) {
	onEveryStore(t, func(t *testing.T, st store.Store) {
		ctx := t.Context()
		eng := open(t, st, turnstone.Config{})
		s := session(t, eng, "s")
		text := func(s string) *string { return &s }
		finished := cortex.GoalCompleted
		if _, err := s.Intend(ctx, cortex.Changes{Goals: []cortex.GoalChange{{ID: "done", Title: text("Done"), Status: &finished}}}); err != nil {
			t.Fatal(err)
		}
		ex := said("Plan it.", "Planned.")
		ex.Intentions = cortex.Changes{
			Goals: []cortex.GoalChange{
				{ID: "lost", Title: text("Lost"), Parent: text("nobody")}, {ID: "part", Title: text("Part"), Parent: text("whole")},
				{ID: "whole", Title: text("Whole"), Parent: text("done")},
			},
			Actions: []cortex.ActionChange{
				{ID: "x", Title: text("x"), GoalID: text("nobody")}, {ID: "y", Title: text("y"), GoalID: text("part")}, {ID: "z", Title: text("z"), GoalID: text("done")},
			},
		}
		res, err := s.Commit(ctx, ex)
		if err != nil {
			t.Fatal(err)
		}
		const why = `: there is no goal "nobody"; list the goals, with those that are finished, and give the id of one, or make it with the same changes`
		want := []commit.Refusal{{What: "goal lost", Reason: "parent" + why}, {What: "action x", Reason: "goal_id" + why}}
		if res.Status != commit.CompleteWithErrors || !slices.Equal(res.Refused, want) {
			t.Errorf("it is %s, refused %+v, want %+v", res.Status, res.Refused, want)
		}
		state, err := s.Intentions(ctx, false)
		if err != nil {
			t.Fatal(err)
		}
		part, _ := state.Goal("part")
		whole, _ := state.Goal("whole")
		y, _ := state.Action("y")
		z, _ := state.Action("z")
		if part.Parent != "whole" || whole.Parent != "done" || y.GoalID != "part" || z.GoalID != "done" || len(state.Goals()) != 2 || len(state.Actions()) != 2 {
			t.Errorf("goals %+v and actions %+v", state.Goals(), state.Actions())
		}
		events, err := eng.Events(ctx, "s", "", 100)
		if err != nil || !slices.ContainsFunc(events, func(e event.Event) bool {
			return e.Kind == event.ItemFlagged && strings.Contains(e.Data, "goal lost") && strings.Contains(e.Data, "action x")
		}) {
			t.Errorf("what was refused is not flagged: %+v, %v", events, err)
		}
		for field, ch := range map[string]cortex.Changes{
			"goals[0].parent":    {Goals: []cortex.GoalChange{{ID: "part", Parent: text("nobody")}}},
			"actions[0].goal_id": {Actions: []cortex.ActionChange{{ID: "y", GoalID: text("nobody")}}},
		} {
			var refused *turnstone.RefusedError
			if _, err := s.Intend(ctx, ch); !errors.As(err, &refused) || refused.Field != field || !strings.HasSuffix(err.Error(), field[strings.Index(field, ".")+1:]+why) {
				t.Errorf("%s: %v", field, err)
			}
		}
		var refused *turnstone.RefusedError
		circle := cortex.Changes{Goals: []cortex.GoalChange{{ID: "whole", Parent: text("part")}}}
		if _, err := s.Intend(ctx, circle); !errors.As(err, &refused) || refused.Field != "goals[0].parent" {
			t.Errorf("a circle: %v", err)
		}
	})
}
