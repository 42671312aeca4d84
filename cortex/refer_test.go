package cortex_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/cortex"
)

// nobody is why a reference to no goal is refused.
func nobody(field, id string) string {
	return field + `: there is no goal "` + id + `"; list the goals, with those that are finished, and give the id of one, or make it with the same changes`
}

func part(id, of string) cortex.GoalChange {
	return cortex.GoalChange{ID: id, Title: ptr(id), Parent: &of}
}

func serving(id, goal string) cortex.ActionChange {
	return cortex.ActionChange{ID: id, Title: ptr(id), GoalID: &goal}
}

// refusals are the refused changes with their reasons.
func refusals(staged cortex.Staged) []string {
	var list []string
	for _, r := range staged.Refused {
		list = append(list, string(r.Kind)+" "+r.ID+": "+r.Reason)
	}
	return list
}

func TestReferencesNameGoals(t *testing.T) {
	const circle = "; name a goal that is not part of it"
	// The session has live and done, which is finished, and middle, which is finished and part of live.
	rows := session(t, titled("live", "Live"), titled("done", "Done"), finished("done"),
		cortex.Changes{Goals: []cortex.GoalChange{part("middle", "live")}}, finished("middle"))
	for _, test := range []struct {
		name    string
		changes cortex.Changes
		want    []string // what is refused
		made    []string // goals and actions that are written
	}{
		{name: "no such parent", changes: cortex.Changes{Goals: []cortex.GoalChange{part("a", "nobody"), part("b", "live")}},
			want: []string{"goal a: " + nobody("parent", "nobody")}, made: []string{"b"}},
		{name: "no such goal of an action", changes: cortex.Changes{Actions: []cortex.ActionChange{serving("x", "nobody"), serving("y", "live")}},
			want: []string{"action x: " + nobody("goal_id", "nobody")}, made: []string{"y"}},
		{name: "an action is no goal", changes: cortex.Changes{Actions: []cortex.ActionChange{serving("x", "live"), serving("y", "x")}},
			want: []string{"action y: " + nobody("goal_id", "x")}, made: []string{"x"}},
		{name: "finished ones", changes: cortex.Changes{Goals: []cortex.GoalChange{part("a", "done")}, Actions: []cortex.ActionChange{serving("x", "done")}},
			made: []string{"a", "x"}},
		{name: "for an action alone", changes: cortex.Changes{Actions: []cortex.ActionChange{serving("x", "done")}}, made: []string{"x"}},
		{name: "made later", changes: cortex.Changes{
			Goals:   []cortex.GoalChange{part("a", "b"), {ID: "a", Progress: ptr(0.5)}, part("b", "c"), {ID: "c", Title: ptr("c")}},
			Actions: []cortex.ActionChange{serving("x", "c")},
		}, made: []string{"c", "b", "a", "x"}},
		{name: "made later and refused", changes: cortex.Changes{
			Goals:   []cortex.GoalChange{part("a", "b"), {ID: "b", Title: ptr("b"), Progress: ptr(2.0)}},
			Actions: []cortex.ActionChange{serving("x", "b")},
		}, want: []string{
			"goal b: progress: 2 is out of range; give a number from 0 to 1", "goal a: " + nobody("parent", "b"), "action x: " + nobody("goal_id", "b"),
		}},
		{name: "changed later, not made", changes: cortex.Changes{Goals: []cortex.GoalChange{part("a", "b"), {ID: "b", Progress: ptr(0.5)}}},
			want: []string{
				"goal a: " + nobody("parent", "b"),
				`goal b: title: is missing, and there is no goal "b" to change; give one to create it, or the id of a goal there is`,
			}},
		{name: "of itself", changes: cortex.Changes{Goals: []cortex.GoalChange{part("a", "a")}},
			want: []string{`goal a: parent: goal "a" cannot be part of "a"` + circle}},
		{name: "of each other", changes: cortex.Changes{Goals: []cortex.GoalChange{part("a", "b"), part("b", "a")}},
			want: []string{`goal b: parent: goal "b" cannot be part of "a"` + circle, "goal a: " + nobody("parent", "b")}},
		{name: "of its part", changes: cortex.Changes{Goals: []cortex.GoalChange{part("a", "live"), {ID: "live", Parent: ptr("a")}}},
			want: []string{`goal live: parent: goal "live" cannot be part of "a"` + circle}, made: []string{"a"}},
		{name: "of its part that comes later", changes: cortex.Changes{Goals: []cortex.GoalChange{{ID: "live", Parent: ptr("a")}, part("a", "live")}},
			want: []string{`goal live: parent: goal "live" cannot be part of "a"` + circle}, made: []string{"a"}},
		{name: "of its part that is finished", changes: cortex.Changes{Goals: []cortex.GoalChange{{ID: "live", Parent: ptr("middle")}}},
			want: []string{`goal live: parent: goal "live" cannot be part of "middle"` + circle}},
		{name: "through what is finished", changes: cortex.Changes{Goals: []cortex.GoalChange{part("a", "middle"), {ID: "live", Parent: ptr("a")}}},
			want: []string{`goal live: parent: goal "live" cannot be part of "a"` + circle}, made: []string{"a"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			state, err := load(t, rows, upTo(9), true).Including(context.Background(), rows, tenant, upTo(9), test.changes)
			if err != nil {
				t.Fatal(err)
			}
			staged := state.Stage(test.changes, start, nil)
			if diff := cmp.Diff(test.want, refusals(staged)); diff != "" {
				t.Errorf("refused (-want +got):\n%s", diff)
			}
			var made []string
			for _, r := range staged.Rows {
				made = append(made, r.ID)
			}
			if diff := cmp.Diff(test.made, made); diff != "" {
				t.Errorf("written (-want +got):\n%s", diff)
			}
			if _, left := staged.Next.Goal("done"); left {
				t.Error("the next live state has a goal that is finished, since it was referred to")
			}
		})
	}
}

// Stores have references that name nothing, from before they were refused: what does not touch them goes on working.
func TestReferencesOfOldStores(t *testing.T) {
	rows := session(t, titled("a", "A"), actionChange("x", "", func(c *cortex.ActionChange) { c.Title = ptr("do") }))
	for i := range rows.rows {
		r := &rows.rows[i]
		r.Doc = strings.Replace(strings.Replace(r.Doc, `"progress":0`, `"progress":0,"parent":"gone"`, 1), `"status":"open"`, `"status":"open","goal_id":"gone"`, 1)
	}
	state := load(t, rows, upTo(9), true)
	if g, _ := state.Goal("a"); g.Parent != "gone" {
		t.Fatalf("the goal is part of %q: %s", g.Parent, rows.rows[0].Doc)
	}
	if a, _ := state.Action("x"); a.GoalID != "gone" {
		t.Fatalf("the action serves %q: %s", a.GoalID, rows.rows[1].Doc)
	}
	for name, ch := range map[string]cortex.Changes{
		"untouched": {Goals: []cortex.GoalChange{{ID: "a", Progress: ptr(0.5)}}, Actions: []cortex.ActionChange{{ID: "x", Blocking: ptr(true)}}},
		"said again": {
			Goals:   []cortex.GoalChange{{ID: "a", Progress: ptr(0.5), Parent: ptr("gone")}},
			Actions: []cortex.ActionChange{{ID: "x", Blocking: ptr(true), GoalID: ptr("gone")}},
		},
		"taken back":  {Goals: []cortex.GoalChange{{ID: "a", Parent: ptr("")}}, Actions: []cortex.ActionChange{{ID: "x", GoalID: ptr("")}}},
		"referred to": {Goals: []cortex.GoalChange{part("b", "a")}, Actions: []cortex.ActionChange{serving("y", "a")}},
		"finished":    {Goals: finished("a").Goals, Actions: []cortex.ActionChange{{ID: "x", Status: ptr(cortex.ActionCancelled)}}},
		"moved to a goal": {
			Goals:   []cortex.GoalChange{{ID: "a", Parent: ptr("b")}, {ID: "b", Title: ptr("b")}},
			Actions: []cortex.ActionChange{{ID: "x", GoalID: ptr("b")}},
		},
	} {
		with, err := state.Including(context.Background(), rows, tenant, upTo(9), ch)
		if err != nil {
			t.Fatal(err)
		}
		if staged := with.Stage(ch, start, nil); len(staged.Refused) > 0 || len(staged.Rows) < 2 {
			t.Errorf("%s: %d rows, refused %v", name, len(staged.Rows), refusals(staged))
		}
	}
}

// A circle that is in a store is gone around once, and each goal is asked for once.
func TestParentsOfAStoreInACircle(t *testing.T) {
	rows := session(t, titled("a", "A"), titled("b", "B"), finished("a"), finished("b"))
	for i := range rows.rows {
		r := &rows.rows[i]
		other := map[string]string{"a": "b", "b": "a"}[r.ID]
		r.Doc = strings.Replace(r.Doc, `"milestones"`, `"parent":"`+other+`","milestones"`, 1)
		if !strings.Contains(r.Doc, `"parent"`) {
			r.Doc = strings.Replace(r.Doc, `,"created_at"`, `,"parent":"`+other+`","created_at"`, 1)
		}
	}
	if !slices.ContainsFunc(load(t, rows, upTo(9), false).Goals(), func(g cortex.Goal) bool { return g.Parent == "b" }) {
		t.Fatalf("there is no circle: %s", rows.rows[0].Doc)
	}
	rows.asked = 0
	ch := cortex.Changes{Goals: []cortex.GoalChange{part("c", "a"), part("d", "b")}}
	state, err := load(t, rows, upTo(9), true).Including(context.Background(), rows, tenant, upTo(9), ch)
	if err != nil || rows.asked != 4 { // c, d, a and b
		t.Fatalf("%v after %d questions", err, rows.asked)
	}
	if staged := state.Stage(ch, start, nil); len(staged.Refused) > 0 {
		t.Errorf("refused %v", refusals(staged))
	}
}
