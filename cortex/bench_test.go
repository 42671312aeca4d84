package cortex_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/cortex"
)

// BenchmarkStage changes one goal of a session that intends as much as a session may, and of one that
// intends a little.
func BenchmarkStage(b *testing.B) {
	for _, size := range []struct{ goals, actions int }{{2, 4}, {cortex.MaxGoals, cortex.MaxActions}} {
		var ch cortex.Changes
		for i := range size.goals {
			ch.Goals = append(ch.Goals, cortex.GoalChange{ID: fmt.Sprint("g", i), Title: ptr(fmt.Sprint("goal ", i))})
		}
		for i := range size.actions {
			ch.Actions = append(ch.Actions, cortex.ActionChange{ID: fmt.Sprint("a", i), Title: ptr("do"), Type: ptr(cortex.Blocker)})
		}
		state := (&cortex.State{}).Stage(ch, start, nil).Next
		change := goalChange("g1", func(c *cortex.GoalChange) { c.Progress = ptr(0.5) })
		b.Run(fmt.Sprintf("%d goals", size.goals), func(b *testing.B) {
			for b.Loop() {
				if staged := state.Stage(change, start, nil); len(staged.Rows) != 1 {
					b.Fatal(staged.Refused)
				}
			}
		})
	}
}

// BenchmarkStageAnExchange is what most exchanges change: how far their goal is, and what comes next.
func BenchmarkStageAnExchange(b *testing.B) {
	steps := func(word string) *[]string {
		return &[]string{"Then " + strings.Repeat(word+" ", 16), "Last " + strings.Repeat(word+" ", 16)}
	}
	change := func(progress float64, word string) cortex.Changes {
		return goalChange("g", func(c *cortex.GoalChange) {
			c.Title, c.Progress, c.NextSteps = ptr("Ship the release candidate"), &progress, steps(word)
		})
	}
	state := (&cortex.State{}).Stage(change(0.25, "before"), start, nil).Next
	next := change(0.5, "another")
	b.ReportAllocs()
	for b.Loop() {
		if staged := state.Stage(next, start, nil); len(staged.Rows) != 1 {
			b.Fatal(staged.Refused)
		}
	}
}
