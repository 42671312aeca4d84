package cortex_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/internal/span"
)

// TestFork forks at turn 2, where goal g came to its versions 2 and 3, and lets both sides go on.
func TestFork(t *testing.T) {
	ctx := context.Background()
	rows := session(t, cortex.Changes{Goals: []cortex.GoalChange{{ID: "g", Title: ptr("first")}, {ID: "old", Title: ptr("before the fork")}}}, titled("g", "second"))
	advance(t, rows, segment, upTo(2), 2, titled("g", "third"))
	if err := cortex.Fork(ctx, rows, tenant, upTo(2), 2, 2); err != nil {
		t.Fatal(err)
	}
	// What hangs on the fork point itself is the fork's own, so the parent's span ends before it.
	child := []span.Span{{Segment: segment, From: 1, To: 1}, {Segment: 2, From: 3, To: 2}}
	if g := load(t, rows, child, true).Goals(); len(g) != 2 || g[0].Title != "third" || g[0].Version != 3 || g[1].Title != "before the fork" {
		t.Errorf("the fork begins with %+v", g)
	}
	for _, r := range rows.rows {
		if r.segment == 2 && r.ID == "old" {
			t.Error("what was written before the fork point was copied")
		}
	}
	// The parent changes its mind at the fork point; the fork does not.
	advance(t, rows, segment, upTo(2), 2, titled("g", "fourth"))
	advance(t, rows, segment, upTo(2), 2, titled("late", "after the fork"))
	advance(t, rows, segment, upTo(3), 3, titled("g", "fifth"))
	advance(t, rows, 2, child, 2, titled("g", "the fork's"))
	if g, _ := load(t, rows, child, true).Goal("g"); g.Title != "the fork's" || g.Version != 4 {
		t.Errorf("the fork has %+v", g)
	}
	if g, _ := load(t, rows, upTo(3), true).Goal("g"); g.Title != "fifth" || g.Version != 5 {
		t.Errorf("the parent has %+v", g)
	}
	var numbers []int64
	history, err := cortex.History(ctx, rows, tenant, child, cortex.KindGoal, "g")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range history {
		numbers = append(numbers, e.Version)
	}
	if diff := cmp.Diff([]int64{1, 2, 3, 4}, numbers); diff != "" {
		t.Error(diff)
	}
	if err := cortex.Fork(ctx, rows, tenant, upTo(2), 2, 2); !errors.Is(err, cortex.ErrStale) {
		t.Errorf("forking into the same segment again: %v", err)
	}
	rows.versionsFail = errors.New("down")
	if err := cortex.Fork(ctx, rows, tenant, upTo(2), 3, 2); !errors.Is(err, rows.versionsFail) {
		t.Errorf("forking with a store that fails: %v", err)
	}
}

func TestHistory(t *testing.T) {
	ctx := context.Background()
	rows := session(t,
		cortex.Changes{Goals: []cortex.GoalChange{{
			ID: "g", By: cortex.ActorUser, TurnID: "t1", Why: "asked", Title: ptr("Ship"),
			AddDecisions: []cortex.Decision{{Description: "use Go"}},
		}}},
		cortex.Changes{Goals: []cortex.GoalChange{
			{ID: "g", TurnID: "t2", Lock: []string{"use Go"}},
			{ID: "g", By: cortex.ActorSystem, Status: ptr(cortex.GoalCompleted), NextSteps: &[]string{"rest"}},
		}})
	history, err := cortex.History(ctx, rows, tenant, upTo(9), cortex.KindGoal, "g")
	if err != nil {
		t.Fatal(err)
	}
	for i := range history {
		if g, err := cortex.DecodeGoal(history[i].Doc); err != nil || g.Version != int64(i+1) {
			t.Errorf("version %d is %+v, %v", i+1, g, err)
		}
		history[i].Doc = ""
	}
	want := []cortex.Entry{
		{Version: 1, AfterSeq: 1, At: start.Add(time.Minute), Changes: []cortex.Audit{{By: "user", TurnID: "t1", Why: "asked", What: []cortex.Step{
			{Field: "status", To: "active"}, {Field: "title", To: "Ship"}, {Field: "decisions[use Go]", To: "open"},
		}}}},
		{Version: 2, AfterSeq: 2, At: start.Add(2 * time.Minute), Changes: []cortex.Audit{
			{By: "agent", TurnID: "t2", What: []cortex.Step{{Field: "decisions[use Go]", From: "open", To: "locked"}}},
			{By: "system", What: []cortex.Step{
				{Field: "next_steps", From: "0", To: "1"}, {Field: "status", From: "active", To: "completed"}, {Field: "progress", From: "0", To: "1"},
			}},
		}},
	}
	if diff := cmp.Diff(want, history); diff != "" {
		t.Error(diff)
	}
	if _, err := cortex.History(ctx, rows, tenant, upTo(9), cortex.KindAction, "g"); !errors.Is(err, cortex.ErrNotFound) {
		t.Errorf("history of nobody: %v", err)
	}
	rows.rows[0].Change = "[]]"
	if _, err := cortex.History(ctx, rows, tenant, upTo(9), cortex.KindGoal, "g"); err == nil {
		t.Error("a broken audit was read")
	}
}
