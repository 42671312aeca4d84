package cortex_test

import (
	"testing"

	"github.com/turnstone-dev/turnstone/cortex"
)

func TestAGoalIsForgottenWhenNothingIsLeftOfIt(t *testing.T) {
	gone := cortex.Goal{
		Title: "[forgotten]", Description: "[forgotten 2]", Milestones: []cortex.Milestone{{Description: "[forgotten 3]"}},
		Decisions: []cortex.Decision{{Description: "[forgotten 4]"}}, Artifacts: []cortex.Artifact{{Path: "[forgotten 5]"}}, NextSteps: []string{"[forgotten 6]"},
	}
	if !gone.Forgotten() {
		t.Error("nothing is left, and it is not forgotten")
	}
	for name, say := range map[string]func(*cortex.Goal){
		"title":       func(g *cortex.Goal) { g.Title = "x" },
		"description": func(g *cortex.Goal) { g.Description = "x" },
		"milestone":   func(g *cortex.Goal) { g.Milestones = []cortex.Milestone{{Description: "x"}} },
		"decision":    func(g *cortex.Goal) { g.Decisions = []cortex.Decision{{Description: "x"}} },
		"rationale":   func(g *cortex.Goal) { g.Decisions = []cortex.Decision{{Description: "[forgotten]", Rationale: "x"}} },
		"artifact":    func(g *cortex.Goal) { g.Artifacts = []cortex.Artifact{{Path: "x"}} },
		"next step":   func(g *cortex.Goal) { g.NextSteps = []string{"[forgotten]", "x"} },
	} {
		g := gone
		if say(&g); g.Forgotten() {
			t.Errorf("its %s is left, and it is forgotten", name)
		}
	}
}
