package turnstone_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// TestForgettingLeavesTheNamesOfFields: which field of a goal or an action a change was made to is told in a name of the engine's, whatever
// words the turn had; only the element of a list that it was made to is named in somebody's words.
func TestForgettingLeavesTheNamesOfFields(t *testing.T) {
	onEveryStore(t, func(t *testing.T, st store.Store) {
		ctx := t.Context()
		eng := open(t, st, turnstone.Config{})
		s := session(t, eng, "s")
		goal, about, parent, high, half, steps := "Feed the walrus", "With clams", "none", cortex.PriorityHigh, 0.5, []string{"Buy clams"}
		id, task, kind, due, yes, why := "g", "Ask the walrus", cortex.AgentTask, time.Now().Add(time.Hour), true, "The walrus eats clams"
		said := "Title, description, priority, parent, steps, status, progress, milestones, decisions, artifacts, goal, blocking, due, " +
			"evidence, type, owner, confirmation, rationale: my walrus eats clams."
		if _, err := s.Intend(ctx, cortex.Changes{Goals: []cortex.GoalChange{{ID: parent, Title: &parent}}}); err != nil {
			t.Fatal(err)
		}
		done, err := s.Commit(ctx, commit.Exchange{
			Turns: []turn.Draft{{Role: turn.User, Content: turn.Text{Text: said}}, {Role: turn.Agent, Content: turn.Text{Text: "Noted."}}},
			Intentions: cortex.Changes{
				Goals: []cortex.GoalChange{
					{
						ID: "g", Title: &goal, Description: &about, Priority: &high, Progress: &half, Parent: &parent, NextSteps: &steps,
						AddMilestones: []cortex.Milestone{{Description: "Forgotten clams of the walrus"}},
						AddDecisions:  []cortex.Decision{{Description: "Feed clams"}},
						AddArtifacts:  []cortex.Artifact{{Path: "walrus.go", Action: cortex.ArtifactCreated}},
					},
					{
						ID: "g", SetDecisions: []cortex.DecisionChange{{Description: "Feed clams", Rationale: &why}},
						AddArtifacts: []cortex.Artifact{{Path: "walrus.go", Type: "source", Action: cortex.ArtifactModified}},
					},
				},
				Actions: []cortex.ActionChange{
					{ID: "a", Title: &task, Type: &kind, DueAt: &due, GoalID: &id, Blocking: &yes, RequiresConfirmation: &yes, AddEvidence: []string{"walrus"}},
				},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		told := func() map[string][]string {
			t.Helper()
			export, err := eng.Export(ctx, done.ExportID)
			if err != nil {
				t.Fatal(err)
			}
			fields := make(map[string][]string)
			for _, u := range append(export.Cortex.UpdatedGoals, export.Cortex.UpdatedActions...) {
				var update cortex.Update
				if err := json.Unmarshal([]byte(u.Change), &update); err != nil {
					t.Fatal(err)
				}
				for _, c := range update.Changes {
					for _, step := range c.What {
						fields["of the export"] = append(fields["of the export"], step.Field)
					}
				}
			}
			for _, id := range []string{"g", "a"} {
				entries, err := s.IntentionHistory(ctx, map[string]cortex.Kind{"g": cortex.KindGoal, "a": cortex.KindAction}[id], id)
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range entries {
					for _, c := range e.Changes {
						for _, step := range c.What {
							fields["of "+id] = append(fields["of "+id], step.Field)
						}
					}
				}
			}
			return fields
		}
		want := told()
		for whose, fields := range want {
			if len(fields) == 0 {
				t.Errorf("no field %s was told", whose)
			}
			for i, field := range fields {
				before, said, after := cortex.SplitField(field)
				if before == "" {
					t.Errorf("field %q %s has no name that is known", field, whose)
				}
				if said != "" {
					fields[i] = before + "[forgotten]" + after
				}
			}
		}
		for range 2 { // the second time leaves it as it is
			if _, err := eng.Forget(ctx, turnstone.Target{Session: "s", Seqs: []int64{1}}); err != nil {
				t.Fatal(err)
			}
			got := told()
			for _, fields := range got {
				for i, field := range fields {
					if before, said, after := cortex.SplitField(field); strings.HasPrefix(said, "[forgotten ") { // marks are numbered
						fields[i] = before + "[forgotten]" + after
					}
				}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			if kept := contents(t, st); strings.Contains(kept, "alrus") || strings.Contains(kept, "clam") {
				t.Errorf("it was not forgotten: %s", kept)
			}
		}
		healthy(t, st)
	})
}
