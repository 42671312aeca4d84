package cortex_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/internal/span"
)

// session writes changes one after the other, each after the turn of its position.
func session(t *testing.T, changes ...cortex.Changes) *memory {
	t.Helper()
	rows := &memory{}
	for i, ch := range changes {
		advance(t, rows, segment, upTo(int64(i+1)), int64(i+1), ch)
	}
	return rows
}

// advance loads, stages and writes, as a commit does.
func advance(t *testing.T, rows *memory, segment int64, spans []span.Span, seq int64, ch cortex.Changes) {
	t.Helper()
	ctx := context.Background()
	state, err := cortex.Load(ctx, rows, tenant, spans, true)
	if err == nil {
		state, err = state.Including(ctx, rows, tenant, spans, ch)
	}
	if err != nil {
		t.Fatal(err)
	}
	staged := state.Stage(ch, start.Add(time.Duration(seq)*time.Minute), counter())
	if len(staged.Refused) > 0 {
		t.Fatal(staged.Refused)
	}
	if err := cortex.Write(ctx, rows, tenant, segment, seq, staged); err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T, rows *memory, spans []span.Span, live bool) *cortex.State {
	t.Helper()
	state, err := cortex.Load(context.Background(), rows, tenant, spans, live)
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func titled(id, title string) cortex.Changes {
	return goalChange(id, func(c *cortex.GoalChange) { c.Title = &title })
}

func finished(id string) cortex.Changes {
	return goalChange(id, func(c *cortex.GoalChange) { c.Status = ptr(cortex.GoalCompleted) })
}

func TestLoad(t *testing.T) {
	rows := session(t,
		titled("g", "first"), titled("h", "second"),
		actionChange("a", "", func(c *cortex.ActionChange) { c.Title = ptr("do") }),
		finished("g"),
		actionChange("a", "", func(c *cortex.ActionChange) { c.Status = ptr(cortex.ActionCancelled) }))
	all, live := load(t, rows, upTo(9), false), load(t, rows, upTo(9), true)
	if d, ok := all.Goals()[0].Decision("never made"); ok {
		t.Errorf("decision %+v", d)
	}
	if g, ok := all.Goal("g"); !ok || g.Status != cortex.GoalCompleted || g.Version != 2 || g.CreatedAt != start.Add(time.Minute) {
		t.Errorf("goal g is %+v", g)
	}
	if len(all.Goals()) != 2 || len(all.Actions()) != 1 || all.Goals()[1].ID != "h" || all.Actions()[0].Status != cortex.ActionCancelled {
		t.Errorf("all: %+v %+v", all.Goals(), all.Actions())
	}
	if len(live.Goals()) != 1 || len(live.Actions()) != 0 {
		t.Errorf("live: %+v %+v", live.Goals(), live.Actions())
	}
	if _, ok := live.Action("a"); ok {
		t.Error("a cancelled action is live")
	}
	before := load(t, rows, upTo(3), true)
	if len(before.Goals()) != 2 || len(before.Actions()) != 1 {
		t.Errorf("after turn 3: %+v %+v", before.Goals(), before.Actions())
	}
	if other := load(t, rows, []span.Span{{Segment: 7, From: 1, To: 9}}, false); len(other.Goals()) != 0 {
		t.Errorf("another session has %+v", other.Goals())
	}
}

func TestLoadRefusesWhatItCannotRead(t *testing.T) {
	ctx := context.Background()
	for _, test := range []struct {
		name string
		row  cortex.Row
	}{
		{"kind", cortex.Row{Kind: "wish", ID: "g", Version: 1, Doc: "{}"}},
		{"goal", cortex.Row{Kind: cortex.KindGoal, ID: "g", Version: 1, Doc: "{}"}},
		{"action", cortex.Row{Kind: cortex.KindAction, ID: "a", Version: 1, Doc: "{}"}},
		{"another id", cortex.Row{Kind: cortex.KindGoal, ID: "h", Version: 1, Doc: goalWithRows(t).Rows[0].Doc}},
		{"another version", cortex.Row{Kind: cortex.KindGoal, ID: "g", Version: 2, Doc: goalWithRows(t).Rows[0].Doc}},
	} {
		test.row.Live = true
		rows := &memory{}
		if err := rows.InsertVersion(ctx, tenant, segment, test.row); err != nil {
			t.Fatal(err)
		}
		if _, err := cortex.Load(ctx, rows, tenant, upTo(1), true); err == nil {
			t.Errorf("%s: read", test.name)
		}
	}
}

func TestIncluding(t *testing.T) {
	ctx := context.Background()
	rows := session(t, titled("g", "first"), titled("h", "second"), finished("g"),
		actionChange("a", "", func(c *cortex.ActionChange) { c.Title, c.Status = ptr("do"), ptr(cortex.ActionCancelled) }))
	live := load(t, rows, upTo(9), true)
	again := cortex.Changes{
		Goals:   []cortex.GoalChange{{ID: "g", Title: ptr("first again")}, {ID: "g"}, {ID: "h"}, {ID: "new", Title: ptr("new")}, {Title: ptr("x")}},
		Actions: []cortex.ActionChange{{ID: "a", Title: ptr("do again")}},
	}
	rows.asked = 0
	with, err := live.Including(ctx, rows, tenant, upTo(9), again)
	if err != nil || rows.asked != 3 {
		t.Fatalf("%v after %d questions", err, rows.asked)
	}
	if len(live.Goals()) != 1 {
		t.Error("the state itself changed")
	}
	staged := with.Stage(again, start, counter())
	if len(staged.Refused) != 2 || staged.Refused[0].Reason != `id: goal "g" is completed and stays as it is; create another goal` ||
		staged.Refused[1].ID != "a" {
		t.Errorf("refused %v", staged.Refused)
	}
	if _, ok := staged.Next.Goal("g"); ok {
		t.Error("the next live state has what is finished")
	}
	if _, ok := staged.Next.Action("a"); ok || len(with.Actions()) != 1 {
		t.Error("the next live state has an action that is finished, or the one before lost it")
	}
	if same, err := live.Including(ctx, rows, tenant, upTo(9), titled("h", "x")); err != nil || same != live {
		t.Errorf("nothing to include: %v", err)
	}
}

func TestNextIsWhatLoadReads(t *testing.T) {
	ctx := context.Background()
	ch := cortex.Changes{
		Goals:   []cortex.GoalChange{{ID: "g", Status: ptr(cortex.GoalCompleted)}, {ID: "h", Priority: ptr(cortex.PriorityHigh), Parent: ptr("g")}},
		Actions: []cortex.ActionChange{{ID: "a", Title: ptr("do"), DueAt: ptr(start)}},
	}
	for _, live := range []bool{true, false} {
		rows := session(t, titled("g", "first"), titled("h", "second"))
		staged := load(t, rows, upTo(2), live).Stage(ch, start.Add(123456789), nil)
		if err := cortex.Write(ctx, rows, tenant, segment, 3, staged); err != nil {
			t.Fatal(err)
		}
		read := load(t, rows, upTo(3), live)
		if diff := cmp.Diff(read, staged.Next, cmp.AllowUnexported(cortex.State{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("live %v: %s", live, diff)
		}
	}
}

func TestActiveGoal(t *testing.T) {
	state := &cortex.State{}
	if _, ok := state.ActiveGoal(); ok {
		t.Error("an empty state has an active goal")
	}
	for i, step := range []struct {
		change cortex.GoalChange
		want   string
	}{
		{cortex.GoalChange{ID: "low", Title: ptr("l"), Priority: ptr(cortex.PriorityLow)}, "low"},
		{cortex.GoalChange{ID: "old", Title: ptr("o")}, "old"},
		{cortex.GoalChange{ID: "new", Title: ptr("n")}, "new"},
		{cortex.GoalChange{ID: "low2", Title: ptr("l2"), Priority: ptr(cortex.PriorityLow)}, "new"},
		{cortex.GoalChange{ID: "high", Title: ptr("h"), Priority: ptr(cortex.PriorityHigh), Status: ptr(cortex.GoalPaused)}, "new"},
		{cortex.GoalChange{ID: "high", Status: ptr(cortex.GoalActive)}, "high"},
		{cortex.GoalChange{ID: "high", Status: ptr(cortex.GoalCompleted)}, "new"},
		{cortex.GoalChange{ID: "new", Status: ptr(cortex.GoalBlocked)}, "old"},
	} {
		state = state.Stage(cortex.Changes{Goals: []cortex.GoalChange{step.change}}, start.Add(time.Duration(i)*time.Second), nil).Next
		if g, ok := state.ActiveGoal(); !ok || g.ID != step.want {
			t.Errorf("step %d: %q is active, want %q", i, g.ID, step.want)
		}
	}
}

func TestStateHandsOutCopies(t *testing.T) {
	state := goalWith(t, func(c *cortex.GoalChange) {
		c.AddMilestones = []cortex.Milestone{{Description: "m"}}
		c.AddDecisions = []cortex.Decision{{Description: "d", Locked: true}}
		c.AddArtifacts = []cortex.Artifact{{Path: "p", Action: cortex.ArtifactCreated}}
		c.NextSteps = &[]string{"n"}
	})
	state = state.Stage(actionChange("a", "", func(c *cortex.ActionChange) { c.Title, c.AddEvidence = ptr("do"), []string{"e"} }), start, nil).Next
	want, action := string(only(t, state).AppendJSON(nil)), state.Actions()[0]
	active, _ := state.ActiveGoal()
	for _, g := range []cortex.Goal{only(t, state), state.Goals()[0], active} {
		g.Milestones[0].Description, g.Decisions[0].Locked, g.Artifacts[0].Path, g.NextSteps[0] = "x", false, "x", "x"
	}
	one, _ := state.Action("a")
	one.Evidence[0], state.Actions()[0].Evidence[0] = "x", "x"
	if diff := cmp.Diff(want, string(only(t, state).AppendJSON(nil))); diff != "" {
		t.Error(diff)
	}
	if now, _ := state.Action("a"); now.Evidence[0] != "e" || action.Evidence[0] != "e" {
		t.Error("the action's evidence can be written to")
	}
}

func TestFailuresOfTheStore(t *testing.T) {
	ctx := context.Background()
	down := errors.New("down")
	rows := session(t, titled("g", "first"))
	state := load(t, rows, upTo(1), true)
	staged := state.Stage(finished("g"), start, nil)
	rows.failure = down
	_, loading := cortex.Load(ctx, rows, tenant, upTo(1), true)
	_, including := state.Including(ctx, rows, tenant, upTo(1), finished("other"))
	_, action := state.Including(ctx, rows, tenant, upTo(1), cortex.Changes{Actions: []cortex.ActionChange{{ID: "a"}}})
	_, history := cortex.History(ctx, rows, tenant, upTo(1), cortex.KindGoal, "g")
	for name, err := range map[string]error{
		"load": loading, "including": including, "including an action": action, "history": history,
		"write": cortex.Write(ctx, rows, tenant, segment, 1, staged),
		"fork":  cortex.Fork(ctx, rows, tenant, upTo(1), 2, 1),
	} {
		if !errors.Is(err, down) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
