package commit

import (
	"slices"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/memory"
)

// goalInterests are what active goals are about.
func goalInterests(s *cortex.State) *memory.Interests {
	var subjects []memory.Subject
	for g := range s.EachGoal() {
		if g.Status != cortex.GoalActive {
			continue
		}
		subject := memory.Subject{Title: g.Title, Texts: append([]string{g.Description}, g.NextSteps...)}
		switch g.Priority {
		case cortex.PriorityHigh:
			subject.Weight = memory.HighPriority
		case cortex.PriorityLow:
			subject.Weight = memory.LowPriority
		default:
			subject.Weight = memory.MediumPriority
		}
		for _, m := range g.Milestones {
			subject.Texts = append(subject.Texts, m.Description)
		}
		subjects = append(subjects, subject)
	}
	return memory.NewInterests(subjects...)
}

func interestsOf(facts []string) *memory.Interests {
	subjects := make([]memory.Subject, len(facts))
	for i, f := range facts {
		subjects[i] = memory.Subject{Weight: 1, Title: clip(f, maxLine)}
	}
	return memory.NewInterests(subjects...)
}

// tell adds what the user told to what is known of the user.
func (st *standing) tell(fact string) {
	st.facts = append([]string{fact}, st.facts[:min(len(st.facts), maxFacts-1)]...)
	st.fresh++
}

// cares returns what the user cares about. It is made anew when the facts it is made of have doubled or
// are all new: one fact more hardly changes it once many are known. Called by who commits to the
// session, alone.
func (st *standing) cares() *memory.Interests {
	doubled := len(st.facts) < maxFacts && st.fresh >= (len(st.facts)+1)/2
	if st.fresh > 0 && (doubled || st.fresh >= len(st.facts)) {
		st.user, st.fresh = interestsOf(st.facts), 0
	}
	return st.user
}

// summarised is the exchange as its summary is made of it.
func (s *Situation) summarised(r *run) memory.Turn {
	t := memory.Turn{TurnID: r.openedBy, Input: s.Input, Reply: s.Reply, Errors: s.Errors}
	for i := range s.Tools {
		ran := memory.ToolRun{Name: s.Tools[i].Name}
		if s.Tools[i].failed() {
			ran.Error = firstLine(s.Tools[i].outcome())
		}
		t.Tools = append(t.Tools, ran)
	}
	for _, g := range r.intentions.Goals {
		for _, d := range g.AddDecisions {
			if !slices.Contains(t.Decisions, d.Description) {
				t.Decisions = append(t.Decisions, d.Description)
			}
		}
	}
	return t
}
