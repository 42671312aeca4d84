package prompt_test

import (
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/prompt"
)

const note = "[Turnstone note, not said by the user]\n"

func TestProgressIsSaidInTheLateBlock(t *testing.T) {
	for _, tt := range []struct {
		name string
		edit func(*cortex.Goal)
		want string
	}{
		{"nothing", func(*cortex.Goal) {}, ""},
		{"what is not shown", func(g *cortex.Goal) { g.Version++; g.UpdatedAt = goalTime.Add(1000) }, ""},
		{"title", func(g *cortex.Goal) { g.Title = "Ship it" }, "Title: Ship it"},
		{"status", func(g *cortex.Goal) { g.Status = cortex.GoalPaused }, "Status: paused"},
		{"priority", func(g *cortex.Goal) { g.Priority = cortex.PriorityLow }, "Priority: low"},
		{"progress", func(g *cortex.Goal) { g.Progress = 0.5 }, "Progress: 50 %"},
		{"progress that does not show", func(g *cortex.Goal) { g.Progress = 0.336 }, ""},
		{"description", func(g *cortex.Goal) { g.Description = "All of it." }, "Description: All of it."},
		{"milestone reached", func(g *cortex.Goal) { g.Milestones[1].Status = cortex.MilestoneCompleted }, "[x] Tests"},
		{"milestone added", func(g *cortex.Goal) {
			g.Milestones = append(g.Milestones, cortex.Milestone{Description: "Release", Status: cortex.MilestonePending})
		}, "[ ] Release"},
		{"milestone removed", func(g *cortex.Goal) { g.Milestones = g.Milestones[:2] }, "No longer: Docs"},
		{"decision added", func(g *cortex.Goal) {
			g.Decisions = append(g.Decisions, cortex.Decision{Description: "Use Go", Rationale: "we know it", Locked: true})
		}, "Decision: Use Go (locked): we know it"},
		{"decision locked", func(g *cortex.Goal) { g.Decisions[2].Locked = true }, "Decision: UTF-8 only (locked)"},
		{"decision removed", func(g *cortex.Goal) { g.Decisions = g.Decisions[:2] }, "No longer: UTF-8 only"},
		{"artifact changed", func(g *cortex.Goal) { g.Artifacts[0].Action = cortex.ArtifactModified }, "Artifact: parse.go (file, modified)"},
		{"artifact removed", func(g *cortex.Goal) { g.Artifacts = nil }, "No longer: parse.go"},
		{"next steps", func(g *cortex.Goal) { g.NextSteps = []string{"Measure", "Rest"} }, "Next steps: Measure; Rest"},
		{"several", func(g *cortex.Goal) { g.Status = cortex.GoalPaused; g.Milestones = nil; g.NextSteps = g.NextSteps[:1] },
			"Status: paused\nNo longer: Grammar\nNo longer: Tests\nNo longer: Docs\nNext steps: Write the fuzz test"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, 8192)
			w.request.Goal = fullGoal()
			w.append(user("go"))
			begin := w.compile()
			w.request.Goal = fullGoal()
			tt.edit(w.request.Goal)
			p := w.compile()
			want := tt.want
			if want != "" {
				want = note + "Progress on the active goal since it was shown above:\n" + want
			}
			if p.Late != want || p.Opened != "" {
				t.Errorf("opened %q, late block:\n%s\nwant:\n%s", p.Opened, p.Late, want)
			}
			if want == "" {
				if p.SHA256 != begin.SHA256 {
					t.Error("nothing changed, but the prompt did")
				}
				return
			}
			if last := p.Messages[len(p.Messages)-1]; len(p.Messages) != len(begin.Messages)+1 || last.Role != prompt.Note || last.Parts[0].Text != want || last.Seqs != nil {
				t.Errorf("%+v", p.Messages)
			}
			// What was said late is no part of what comes after it.
			w.request.Goal = fullGoal()
			if back := w.compile(); back.SHA256 != begin.SHA256 {
				t.Error("the late block stays")
			}
		})
	}
}

func TestTheLateBlockHoldsWholeItems(t *testing.T) {
	w := newWorld(t, 4096) // 3 % of 3482 tokens: 104
	w.append(user("go"))
	long, short := words(40), "short "+words(5)
	w.request.Late = []string{" " + long + "\n", "", "  \n", long + " again", short}
	p := w.compile()
	if want := note + long + "\n\n" + short; p.Late != want {
		t.Errorf("late block %q, want %q", p.Late, want)
	}
	wantLines(t, p.LeftOut, long+" again")
	if n := lineOf(p, budget.Late); n > 104 || n < 45 {
		t.Errorf("the late block takes %d tokens", n)
	}
	wantShown(t, p, 1)
	w.request.Late = []string{words(110)}
	p = w.compile()
	if p.Late != "" || len(p.LeftOut) != 1 || len(p.Messages) != 1 {
		t.Errorf("%q, left out %d", p.Late, len(p.LeftOut))
	}
}

func lineOf(p *prompt.Prompt, part budget.Part) int {
	for _, l := range p.Account.Lines {
		if l.Part == part {
			return l.Count.Upper()
		}
	}
	return 0
}

func TestTheLateBlockBeginsWithProgress(t *testing.T) {
	w := newWorld(t, 4096)
	w.request.Goal = fullGoal()
	w.compile()
	w.request.Goal = fullGoal()
	w.request.Goal.Status = cortex.GoalPaused
	w.request.Late = []string{"recalled"}
	if p := w.compile(); p.Late != note+"Progress on the active goal since it was shown above:\nStatus: paused\n\nrecalled" {
		t.Errorf("late block %q", p.Late)
	}
}

func TestMoreProgressThanTheLateBlockHoldsOpensAnEpoch(t *testing.T) {
	w := newWorld(t, 2048)
	w.request.Goal = fullGoal()
	w.append(user("go"), agent("going"))
	w.compile()
	w.request.Goal = fullGoal()
	w.request.Goal.Description = words(60)
	w.request.Late = []string{"recalled"}
	p := w.compile()
	if p.Opened != prompt.ReasonGoal || p.Epoch != 2 || p.Late != note+"recalled" || p.Passes != 0 {
		t.Errorf("%+v", p)
	}
	wantShown(t, p, 1, 2)
	if !strings.Contains(p.Messages[0].Parts[0].Text, words(60)) {
		t.Errorf("the block is not the new one: %s", p.Messages[0].Parts[0].Text)
	}
	if e := w.epoch(); e.Reason != prompt.ReasonGoal || e.Goal.Description != words(60) || e.AfterSeq != 2 || e.From != 1 {
		t.Errorf("%+v", e)
	}
}

func TestAnotherGoalOpensAnEpoch(t *testing.T) {
	w := newWorld(t, 4096)
	w.append(user("go"))
	if p := w.compile(); lineOf(p, budget.Goal) != 0 {
		t.Errorf("a goal where there is none: %+v", p.Account)
	}
	other := fullGoal()
	other.ID = "goal-2"
	for i, goal := range []*cortex.Goal{fullGoal(), other, nil, fullGoal()} {
		w.request.Goal = goal
		p := w.compile()
		if p.Opened != prompt.ReasonGoal || p.Epoch != int64(i+2) || p.Late != "" {
			t.Errorf("step %d: %+v", i, p)
		}
		if (lineOf(p, budget.Goal) > 0) != (goal != nil) {
			t.Errorf("step %d: %+v", i, p.Account)
		}
		wantShown(t, p, 1)
	}
}
