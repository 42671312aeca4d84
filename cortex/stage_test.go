package cortex_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/cortex"
)

// goalWith returns a state with goal g that the change made.
func goalWith(t *testing.T, edit func(*cortex.GoalChange)) *cortex.State {
	t.Helper()
	staged := (&cortex.State{}).Stage(goalChange("g", func(c *cortex.GoalChange) {
		c.Title = ptr("Ship it")
		edit(c)
	}), start, nil)
	if len(staged.Refused) > 0 {
		t.Fatal(staged.Refused)
	}
	return staged.Next
}

func only(t *testing.T, s *cortex.State) cortex.Goal {
	t.Helper()
	g, ok := s.Goal("g")
	if !ok {
		t.Fatal("there is no goal g")
	}
	return g
}

func TestChangesOfGoals(t *testing.T) {
	base := goalWith(t, func(c *cortex.GoalChange) {
		c.AddMilestones = []cortex.Milestone{{Description: "design"}, {Description: "build", Status: cortex.MilestoneInProgress}}
		c.AddDecisions = []cortex.Decision{{Description: "use Go"}, {Description: "use JWT", Rationale: "stateless", Locked: true}}
		c.AddArtifacts = []cortex.Artifact{{Path: "main.go", Action: cortex.ArtifactCreated}}
		c.NextSteps = &[]string{"write tests"}
	})
	base = base.Stage(titled("p", "Part of what"), start, nil).Next
	was := only(t, base)
	later := start.Add(time.Hour)
	for _, test := range []struct {
		name   string
		change func(*cortex.GoalChange)
		want   func(*cortex.Goal) // nil: nothing changes
		refuse string
	}{
		{name: "nothing", change: func(c *cortex.GoalChange) {}},
		{name: "same again", change: func(c *cortex.GoalChange) {
			c.Title, c.NextSteps, c.Progress = ptr("Ship it"), &[]string{"write tests"}, ptr(0.0)
			c.AddArtifacts = []cortex.Artifact{{Path: "main.go", Type: "file", Action: cortex.ArtifactCreated}}
			c.AddDecisions = []cortex.Decision{{Description: "use JWT"}, {Description: "use JWT", Rationale: "stateless", Locked: true}, {Description: "use Go"}}
			c.AddMilestones = []cortex.Milestone{{Description: "build"}, {Description: "design", Status: cortex.MilestonePending}}
			c.RemoveDecisions = []string{"never made"}
			c.Lock = []string{"use JWT"}
		}},
		{name: "texts", change: func(c *cortex.GoalChange) {
			c.Title, c.Description, c.Parent, c.Priority = ptr("Ship it now"), ptr("a\nb"), ptr("p"), ptr(cortex.PriorityHigh)
		}, want: func(g *cortex.Goal) {
			g.Title, g.Description, g.Parent, g.Priority = "Ship it now", "a\nb", "p", cortex.PriorityHigh
		}},
		{name: "milestone done", change: func(c *cortex.GoalChange) {
			c.SetMilestones = []cortex.Milestone{{Description: "build", Status: cortex.MilestoneCompleted}}
		}, want: func(g *cortex.Goal) { g.Milestones[1].Status, g.Progress = cortex.MilestoneCompleted, 0.5 }},
		{name: "in any case", change: func(c *cortex.GoalChange) {
			c.AddMilestones = []cortex.Milestone{{Description: " DESIGN", Status: cortex.MilestoneCompleted}, {Description: "new"}, {Description: "New"}}
			c.SetMilestones = []cortex.Milestone{{Description: "Build", Status: cortex.MilestoneCompleted}}
			c.AddDecisions = []cortex.Decision{{Description: "Use  JWT"}, {Description: "use go", Rationale: "newest"}}
			c.Lock = []string{"USE GO"}
		}, want: func(g *cortex.Goal) {
			g.Milestones = []cortex.Milestone{
				{Description: "design", Status: cortex.MilestoneCompleted}, {Description: "build", Status: cortex.MilestoneCompleted},
				{Description: "new", Status: cortex.MilestonePending},
			}
			g.Decisions[0].Rationale, g.Decisions[0].Locked, g.Progress = "newest", true, 2.0/3
		}},
		{name: "renamed in another case", change: func(c *cortex.GoalChange) {
			c.SetDecisions = []cortex.DecisionChange{{Description: "USE GO", Rename: ptr("use GO")}}
		}, want: func(g *cortex.Goal) { g.Decisions[0].Description = "use GO" }},
		{name: "removed in another case", change: func(c *cortex.GoalChange) { c.RemoveDecisions = []string{"Use Go"} },
			want: func(g *cortex.Goal) { g.Decisions = g.Decisions[1:] }},
		{name: "locked in another case", change: func(c *cortex.GoalChange) { c.RemoveDecisions = []string{"USE JWT"} },
			refuse: `remove_decisions[0]: decision "use JWT" is locked and stays as it is`},
		{name: "renamed to one in another case", change: func(c *cortex.GoalChange) {
			c.SetDecisions = []cortex.DecisionChange{{Description: "use Go", Rename: ptr("Use jwt")}}
		}, refuse: `set_decisions[0].rename: the goal has the decision "use JWT" already`},
		{name: "milestone added and set", change: func(c *cortex.GoalChange) {
			c.AddMilestones = []cortex.Milestone{{Description: "release"}, {Description: "design", Status: cortex.MilestoneCompleted}}
		}, want: func(g *cortex.Goal) {
			g.Milestones[0].Status = cortex.MilestoneCompleted
			g.Milestones = append(g.Milestones, cortex.Milestone{Description: "release", Status: cortex.MilestonePending})
			g.Progress = 1.0 / 3
		}},
		{name: "progress said", change: func(c *cortex.GoalChange) {
			c.Progress = ptr(0.9)
			c.SetMilestones = []cortex.Milestone{{Description: "build", Status: cortex.MilestoneCompleted}}
		}, want: func(g *cortex.Goal) { g.Milestones[1].Status, g.Progress = cortex.MilestoneCompleted, 0.9 }},
		{name: "decision changed", change: func(c *cortex.GoalChange) {
			c.SetDecisions = []cortex.DecisionChange{{Description: "use Go", Rename: ptr("use Go 1.26"), Rationale: ptr("newest"), Locked: ptr(true)}}
		}, want: func(g *cortex.Goal) {
			g.Decisions[0] = cortex.Decision{Description: "use Go 1.26", Rationale: "newest", Locked: true}
		}},
		{name: "decision given a rationale", change: func(c *cortex.GoalChange) {
			c.AddDecisions = []cortex.Decision{{Description: "use Go", Rationale: "simple"}}
		}, want: func(g *cortex.Goal) { g.Decisions[0].Rationale = "simple" }},
		{name: "decision locked", change: func(c *cortex.GoalChange) { c.Lock = []string{"use Go"} },
			want: func(g *cortex.Goal) { g.Decisions[0].Locked = true }},
		{name: "decision removed", change: func(c *cortex.GoalChange) { c.RemoveDecisions = []string{"use Go"} },
			want: func(g *cortex.Goal) { g.Decisions = g.Decisions[1:] }},
		{name: "artifacts", change: func(c *cortex.GoalChange) {
			c.AddArtifacts = []cortex.Artifact{{Path: "main.go", Type: "source", Action: cortex.ArtifactDeleted}, {Path: "x", Action: cortex.ArtifactModified}}
		}, want: func(g *cortex.Goal) {
			g.Artifacts = []cortex.Artifact{{Path: "main.go", Type: "source", Action: cortex.ArtifactDeleted}, {Path: "x", Type: "file", Action: cortex.ArtifactModified}}
		}},
		{name: "no next steps", change: func(c *cortex.GoalChange) { c.NextSteps = &[]string{} },
			want: func(g *cortex.Goal) { g.NextSteps = []string{} }},
		{name: "expected version", change: func(c *cortex.GoalChange) { c.Version, c.Priority = 1, ptr(cortex.PriorityLow) },
			want: func(g *cortex.Goal) { g.Priority = cortex.PriorityLow }},

		{name: "stale", change: func(c *cortex.GoalChange) { c.Version, c.Priority = 2, ptr(cortex.PriorityLow) },
			refuse: "version: it is at version 1 by now, not 2; read it again and decide anew"},
		{name: "unlock", change: func(c *cortex.GoalChange) {
			c.SetDecisions = []cortex.DecisionChange{{Description: "use JWT", Locked: ptr(false)}}
		}, refuse: `set_decisions[0]: decision "use JWT" is locked and stays as it is; add another decision that says what is different`},
		{name: "rename locked", change: func(c *cortex.GoalChange) {
			c.SetDecisions = []cortex.DecisionChange{{Description: "use Go"}, {Description: "use JWT", Rename: ptr("use cookies")}}
		}, refuse: `set_decisions[1]: decision "use JWT" is locked`},
		{name: "other rationale for locked", change: func(c *cortex.GoalChange) {
			c.AddDecisions = []cortex.Decision{{Description: "use JWT", Rationale: "fashion"}}
		}, refuse: `add_decisions[0]: decision "use JWT" is locked`},
		{name: "remove locked", change: func(c *cortex.GoalChange) { c.RemoveDecisions = []string{"use JWT"} },
			refuse: `remove_decisions[0]: decision "use JWT" is locked`},
		{name: "whole or not at all", change: func(c *cortex.GoalChange) {
			c.Title, c.RemoveDecisions = ptr("other"), []string{"use JWT"}
		}, refuse: "is locked"},
		{name: "change unknown decision", change: func(c *cortex.GoalChange) {
			c.SetDecisions = []cortex.DecisionChange{{Description: "nobody"}}
		}, refuse: `set_decisions[0].description: the goal has no decision "nobody"; add it`},
		{name: "lock unknown decision", change: func(c *cortex.GoalChange) { c.Lock = []string{"nobody"} },
			refuse: `lock[0].description: the goal has no decision "nobody"`},
		{name: "rename to another's", change: func(c *cortex.GoalChange) {
			c.SetDecisions = []cortex.DecisionChange{{Description: "use Go", Rename: ptr("use JWT")}}
		}, refuse: `set_decisions[0].rename: the goal has the decision "use JWT" already`},
		{name: "set unknown milestone", change: func(c *cortex.GoalChange) {
			c.SetMilestones = []cortex.Milestone{{Description: "nobody", Status: cortex.MilestoneCompleted}}
		}, refuse: `set_milestones[0]: the goal has no milestone "nobody"; add it, or use a description there is`},
		{name: "set milestone to nothing", change: func(c *cortex.GoalChange) {
			c.SetMilestones = []cortex.Milestone{{Description: "build"}}
		}, refuse: `set_milestones[0].status: "" is none; use pending, in-progress or completed`},
		{name: "milestone status", change: func(c *cortex.GoalChange) {
			c.AddMilestones = []cortex.Milestone{{Description: "x", Status: "finished"}}
		}, refuse: `add_milestones[0].status: "finished" is none; use pending, in-progress or completed`},
		{name: "artifact action", change: func(c *cortex.GoalChange) {
			c.AddArtifacts = []cortex.Artifact{{Path: "x"}}
		}, refuse: `add_artifacts[0].action: "" is none; use created, modified or deleted`},
		{name: "artifact path", change: func(c *cortex.GoalChange) {
			c.AddArtifacts = []cortex.Artifact{{Action: cortex.ArtifactCreated}}
		}, refuse: `add_artifacts[0].path: is empty`},
		{name: "artifact type", change: func(c *cortex.GoalChange) {
			c.AddArtifacts = []cortex.Artifact{{Path: "x", Type: "\n", Action: cortex.ArtifactCreated}}
		}, refuse: "add_artifacts[0].type: is empty"},
		{name: "decision", change: func(c *cortex.GoalChange) { c.AddDecisions = []cortex.Decision{{}} }, refuse: "add_decisions[0].description: is empty"},
		{name: "milestone", change: func(c *cortex.GoalChange) { c.AddMilestones = []cortex.Milestone{{}} }, refuse: "add_milestones[0].description: is empty"},
		{name: "not a number", change: func(c *cortex.GoalChange) { c.Progress = ptr(math.NaN()) }, refuse: "progress: NaN is out of range; give a number from 0 to 1"},
		{name: "too much progress", change: func(c *cortex.GoalChange) { c.Progress = ptr(1.5) }, refuse: "progress: 1.5 is out of range"},
		{name: "less than none", change: func(c *cortex.GoalChange) { c.Progress = ptr(-0.1) }, refuse: "progress: -0.1 is out of range"},
		{name: "priority", change: func(c *cortex.GoalChange) { c.Priority = ptr(cortex.Priority("top")) }, refuse: `priority: "top" is none; use high, medium or low`},
		{name: "actor", change: func(c *cortex.GoalChange) { c.By = "root" }, refuse: `by: "root" is none; use agent, user or system`},
		{name: "turn", change: func(c *cortex.GoalChange) { c.TurnID = "a b" }, refuse: `turn_id: "a b" holds ' '`},
		{name: "why", change: func(c *cortex.GoalChange) { c.Why = "\xff" }, refuse: "why: is not valid UTF-8"},
		{name: "own parent", change: func(c *cortex.GoalChange) { c.Parent = ptr("g") }, refuse: `parent: goal "g" cannot be part of "g"`},
		{name: "parent", change: func(c *cortex.GoalChange) { c.Parent = ptr("a b") }, refuse: `parent: "a b" holds ' '`},
		{name: "empty title", change: func(c *cortex.GoalChange) { c.Title = ptr(" ") }, refuse: "title: is empty; give one"},
		{name: "two lines", change: func(c *cortex.GoalChange) { c.NextSteps = &[]string{"a\nb"} }, refuse: "next_steps[0]: has line breaks or other control characters; write it on one line"},
		{name: "long title", change: func(c *cortex.GoalChange) { c.Title = ptr(strings.Repeat("x", cortex.MaxLine+1)) }, refuse: "title: is 2049 bytes long, at most 2048; shorten it"},
		{name: "long description", change: func(c *cortex.GoalChange) { c.Description = ptr(strings.Repeat("x", cortex.MaxText+1)) }, refuse: "description: is 16385 bytes long"},
		{name: "long rationale", change: func(c *cortex.GoalChange) {
			c.AddDecisions = []cortex.Decision{{Description: "x", Rationale: "\x00"}}
		}, refuse: "add_decisions[0].rationale: has a NUL character"},
		{name: "too many steps", change: func(c *cortex.GoalChange) { c.NextSteps = ptr(numbered(cortex.MaxNextSteps + 1)) }, refuse: "next_steps: would be 65, at most 64"},
		{name: "milestones past what a goal may have", change: func(c *cortex.GoalChange) {
			for _, d := range numbered(cortex.MaxMilestones) {
				c.AddMilestones = append(c.AddMilestones, cortex.Milestone{Description: d})
			}
		}, refuse: "milestones: would be 66, at most 64; leave out what no longer matters"},
		{name: "many milestones", change: func(c *cortex.GoalChange) { c.AddMilestones = make([]cortex.Milestone, 1_000_000) }, refuse: "add_milestones: there are 1000000; give at most 64"},
		{name: "many milestones set", change: func(c *cortex.GoalChange) { c.SetMilestones = make([]cortex.Milestone, 65) }, refuse: "set_milestones: there are 65; give at most 64"},
		{name: "many decisions", change: func(c *cortex.GoalChange) { c.AddDecisions = make([]cortex.Decision, 65) }, refuse: "add_decisions: there are 65; give at most 64"},
		{name: "many decisions set", change: func(c *cortex.GoalChange) { c.SetDecisions = make([]cortex.DecisionChange, 65) }, refuse: "set_decisions: there are 65; give at most 64"},
		{name: "many decisions removed", change: func(c *cortex.GoalChange) { c.RemoveDecisions = numbered(65) }, refuse: "remove_decisions: there are 65; give at most 64"},
		{name: "many locks", change: func(c *cortex.GoalChange) { c.Lock = numbered(65) }, refuse: "lock: there are 65; give at most 64"},
		{name: "many artifacts", change: func(c *cortex.GoalChange) { c.AddArtifacts = make([]cortex.Artifact, 257) }, refuse: "add_artifacts: there are 257; give at most 256"},
	} {
		t.Run(test.name, func(t *testing.T) {
			staged := base.Stage(goalChange("g", test.change), later, nil)
			if diff := cmp.Diff(was, only(t, base)); diff != "" {
				t.Fatalf("the state itself changed: %s", diff)
			}
			want := was
			switch {
			case test.refuse != "":
				if len(staged.Refused) != 1 || !strings.Contains(staged.Refused[0].Reason, test.refuse) {
					t.Errorf("refused %v, want %s", staged.Refused, test.refuse)
				} else if r := staged.Refused[0]; r.Kind != cortex.KindGoal || r.ID != "g" || !json.Valid(r.Change) {
					t.Errorf("refusal is %+v", r)
				}
			case len(staged.Refused) > 0:
				t.Errorf("refused: %s", staged.Refused[0].Reason)
			case test.want != nil:
				clone, _ := base.Goal("g")
				test.want(&clone)
				clone.Version, clone.UpdatedAt = 2, later
				want = clone
			}
			if diff := cmp.Diff(want, only(t, staged.Next)); diff != "" {
				t.Error(diff)
			}
			if rows := len(staged.Rows); rows != len(staged.Updates) || (rows == 1) != (test.want != nil) {
				t.Errorf("%d rows, updated %v", rows, staged.Updates)
			}
		})
	}
}

func numbered(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprint("step ", i)
	}
	return list
}

func TestOneBadChangeLeavesTheOthers(t *testing.T) {
	base := goalWith(t, func(c *cortex.GoalChange) { c.AddDecisions = []cortex.Decision{{Description: "use JWT", Locked: true}} })
	staged := base.Stage(cortex.Changes{
		Goals: []cortex.GoalChange{
			{ID: "g", By: cortex.ActorUser, TurnID: "t7", Why: "asked for", Priority: ptr(cortex.PriorityHigh)},
			{ID: "g", RemoveDecisions: []string{"use JWT"}},
			{ID: "g", Version: 1, Progress: ptr(0.25)},
			{ID: "h"},
			{Title: ptr("Another")},
			{Title: ptr("another "), Progress: ptr(0.5)},
		},
		Actions: []cortex.ActionChange{
			{ID: "a", Title: ptr("call"), Type: ptr(cortex.Reminder)},
			{ID: "a", Status: ptr(cortex.ActionDone)},
			{Title: ptr("ask"), Type: ptr(cortex.ActionType("phone_call"))},
		},
	}, start, counter())
	var refused []string
	for _, r := range staged.Refused {
		refused = append(refused, string(r.Kind)+" "+r.ID)
	}
	if diff := cmp.Diff([]string{"goal g", "goal h", "action a"}, refused); diff != "" {
		t.Error(diff)
	}
	type version struct {
		id     string
		number int64
	}
	var rows []version
	for _, r := range staged.Rows {
		if r.AfterSeq != 0 || !r.At.Equal(start) {
			t.Errorf("row is %+v", r)
		}
		rows = append(rows, version{r.ID, r.Version})
	}
	// The change that found its goal by the title had an id, too, n2, which nothing has now.
	if diff := cmp.Diff([]version{{"g", 2}, {"n1", 1}, {"a", 1}, {"n3", 1}}, rows, cmp.AllowUnexported(version{})); diff != "" {
		t.Error(diff)
	}
	want := cortex.Update{Version: 2, Title: "Ship it", Status: "active", Changes: []cortex.Audit{
		{By: cortex.ActorUser, TurnID: "t7", Why: "asked for", What: []cortex.Step{{Field: "priority", From: "medium", To: "high"}}},
		{By: cortex.ActorAgent, What: []cortex.Step{{Field: "progress", From: "0", To: "0.25"}}},
	}}
	want.Text = `{"version":2,"title":"Ship it","status":"active","changes":` + staged.Rows[0].Change + `}`
	got, _ := staged.Update(cortex.KindGoal, "g")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, changed := staged.Update(cortex.KindAction, "g"); changed {
		t.Error("a goal is told as an action")
	}
	if u, _ := staged.Update(cortex.KindAction, "a"); u.Status != "scheduled" || u.Title != "call" || u.Version != 1 {
		t.Errorf("action a became %+v", u)
	}
	if g, _ := staged.Next.Goal("n1"); g.Progress != 0.5 {
		t.Errorf("a title does not find its goal: %+v", g)
	}
	if a, _ := staged.Next.Action("n3"); a.Type != cortex.UserTask || !a.RequiresConfirmation || a.Owner != cortex.OwnerUser || a.Status != cortex.ActionOpen {
		t.Errorf("an unknown type made %+v", a)
	}
}

func TestParentsDoNotLeadBack(t *testing.T) {
	base := (&cortex.State{}).Stage(cortex.Changes{Goals: []cortex.GoalChange{
		{ID: "finished-long-ago", Title: ptr("f"), Status: ptr(cortex.GoalCompleted)},
	}}, start, nil).Next
	staged := base.Stage(cortex.Changes{Goals: []cortex.GoalChange{
		{ID: "a", Title: ptr("a"), Parent: ptr("finished-long-ago")},
		{ID: "b", Title: ptr("b"), Parent: ptr("a")},
		{ID: "c", Title: ptr("c"), Parent: ptr("b")},
		{ID: "a", Parent: ptr("c")},
		{ID: "a", Parent: ptr("")},
	}}, start, nil)
	if len(staged.Refused) != 1 || staged.Refused[0].Reason != `parent: goal "a" cannot be part of "c"; name a goal that is not part of it` {
		t.Errorf("refused %v", staged.Refused)
	}
	if a, _ := staged.Next.Goal("a"); a.Parent != "" {
		t.Errorf("goal a is part of %q", a.Parent)
	}
}

func TestLimits(t *testing.T) {
	var ch cortex.Changes
	for i := range cortex.MaxGoals + 1 {
		ch.Goals = append(ch.Goals, cortex.GoalChange{ID: fmt.Sprint("g", i), Title: ptr(fmt.Sprint("goal ", i))})
	}
	for i := range cortex.MaxActions + 1 {
		ch.Actions = append(ch.Actions, cortex.ActionChange{ID: fmt.Sprint("a", i), Title: ptr("do")})
	}
	staged := (&cortex.State{}).Stage(ch, start, nil)
	if len(staged.Refused) != 2 || len(staged.Rows) != cortex.MaxGoals+cortex.MaxActions ||
		staged.Refused[0].Reason != "256 goals are live already; complete or abandon some first" ||
		staged.Refused[1].Reason != "1024 actions are live already; finish or cancel some first" {
		t.Fatalf("%d rows, refused %v", len(staged.Rows), staged.Refused)
	}
	// One that ends makes room, and a full state can still change.
	again := staged.Next.Stage(cortex.Changes{
		Goals:   []cortex.GoalChange{{ID: "g0", Progress: ptr(0.5)}, {ID: "g1", Status: ptr(cortex.GoalAbandoned)}, {ID: "g256", Title: ptr("new")}},
		Actions: []cortex.ActionChange{{ID: "a0", Blocking: ptr(true)}, {ID: "a1", Status: ptr(cortex.ActionCancelled)}, {ID: "a1024", Title: ptr("new")}},
	}, start, nil)
	if len(again.Refused) != 0 || len(again.Rows) != 6 {
		t.Errorf("%d rows, refused %v", len(again.Rows), again.Refused)
	}
}

func TestNoIDAndNobodyToGiveOne(t *testing.T) {
	staged := (&cortex.State{}).Stage(cortex.Changes{
		Goals:   []cortex.GoalChange{{Title: ptr("x")}},
		Actions: []cortex.ActionChange{{Title: ptr("x")}},
	}, start, nil)
	if len(staged.Refused) != 2 || !strings.HasPrefix(staged.Refused[0].Reason, "id: is empty") || !strings.HasPrefix(staged.Refused[1].Reason, "id: is empty") {
		t.Errorf("refused %v", staged.Refused)
	}
}

func TestWrite(t *testing.T) {
	ctx := context.Background()
	rows := &memory{}
	staged := goalWithRows(t)
	if err := cortex.Write(ctx, rows, tenant, segment, 4, staged); err != nil {
		t.Fatal(err)
	}
	if len(rows.rows) != 1 || rows.rows[0].AfterSeq != 4 || rows.rows[0].segment != segment || rows.rows[0].tenant != tenant {
		t.Errorf("wrote %+v", rows.rows)
	}
	if staged.Rows[0].AfterSeq != 0 {
		t.Error("writing changed what was staged")
	}
	if err := cortex.Write(ctx, rows, tenant, segment, 4, staged); !errors.Is(err, cortex.ErrStale) || err.Error() != "goal g version 1: it was changed in the meantime" {
		t.Errorf("a second write is %v", err)
	}
}

func goalWithRows(t *testing.T) cortex.Staged {
	t.Helper()
	staged := (&cortex.State{}).Stage(goalChange("g", func(c *cortex.GoalChange) { c.Title = ptr("Ship it") }), start, nil)
	if len(staged.Refused) > 0 {
		t.Fatal(staged.Refused)
	}
	return staged
}

// TestTwoStagesOfOneStateShareNothing stages two changes that lengthen the same lists, which have room for one more.
func TestTwoStagesOfOneStateShareNothing(t *testing.T) {
	list := func(words ...string) *[]string { return &words }
	change := func(evidence []string, steps *[]string) cortex.Changes {
		ch := goalChange("g", func(c *cortex.GoalChange) { c.Title, c.NextSteps = ptr("goal"), steps })
		ch.Actions = actionChange("a", cortex.ActorAgent, func(c *cortex.ActionChange) { c.Title, c.AddEvidence = ptr("do"), evidence }).Actions
		return ch
	}
	state := (&cortex.State{}).Stage(change([]string{"1", "2", "3"}, list("now")), start, nil).Next
	steps := list("first")
	first := state.Stage(change([]string{"first"}, steps), start, nil).Next
	state.Stage(change([]string{"second"}, list("second")), start, nil)
	(*steps)[0] = "not said"
	if a, _ := first.Action("a"); !slices.Equal(a.Evidence, []string{"1", "2", "3", "first"}) {
		t.Errorf("the evidence became %q", a.Evidence)
	}
	if g, _ := first.Goal("g"); !slices.Equal(g.NextSteps, []string{"first"}) {
		t.Errorf("the next steps became %q", g.NextSteps)
	}
	if g, _ := state.Goal("g"); !slices.Equal(g.NextSteps, []string{"now"}) {
		t.Errorf("the next steps before became %q", g.NextSteps)
	}
}

// What names nothing and has no title is told to lack one, and no id that nobody gave.
func TestAChangeOfNothing(t *testing.T) {
	staged := new(cortex.State).Stage(cortex.Changes{Goals: []cortex.GoalChange{{}}, Actions: []cortex.ActionChange{{}}}, start, func() string { return "made" })
	var told []string
	for _, r := range staged.Refused {
		told = append(told, r.ID+": "+r.Reason)
	}
	want := []string{
		": title: is missing; give one to create it, or the id of a goal there is",
		": title: is missing; give one to create it, or the id of an action there is",
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
}

// A goal may have milestones and decisions whose names differ in case only, from before they were one: each is found as it is written.
func TestNamesThatDifferInCase(t *testing.T) {
	row := goalWithRows(t).Rows[0]
	goal, err := cortex.DecodeGoal(row.Doc)
	if err != nil {
		t.Fatal(err)
	}
	goal.Milestones = []cortex.Milestone{{Description: "m", Status: cortex.MilestonePending}, {Description: "M", Status: cortex.MilestonePending}}
	goal.Decisions = []cortex.Decision{{Description: "d"}, {Description: "D", Locked: true}}
	row.Doc, row.Live = string(goal.AppendJSON(nil)), true
	rows := &memory{}
	if err := rows.InsertVersion(t.Context(), tenant, segment, row); err != nil {
		t.Fatal(err)
	}
	staged := load(t, rows, upTo(1), true).Stage(goalChange(goal.ID, func(c *cortex.GoalChange) {
		c.SetMilestones = []cortex.Milestone{{Description: "M", Status: cortex.MilestoneCompleted}}
		c.SetDecisions = []cortex.DecisionChange{{Description: "d", Rationale: ptr("why")}}
	}), start, nil)
	if len(staged.Refused) > 0 {
		t.Fatal(staged.Refused)
	}
	goal.Milestones[1].Status, goal.Decisions[0].Rationale = cortex.MilestoneCompleted, "why"
	got, _ := staged.Next.Goal(goal.ID)
	if diff := cmp.Diff(goal.Milestones, got.Milestones) + cmp.Diff(goal.Decisions, got.Decisions); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What milestones and decisions are found by is as splitting texts into words and comparing them in any case.
func TestSameWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("aAbſsK\u212a \u00a0\t")), 0, 6, -1)
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		want := a == b || strings.EqualFold(strings.Join(strings.Fields(a), " "), strings.Join(strings.Fields(b), " "))
		_, got := cortex.Goal{Decisions: []cortex.Decision{{Description: a}}}.Decision(b)
		if got != want {
			t.Fatalf("%q is found by %q: %v, want %v", a, b, got, want)
		}
	})
}
