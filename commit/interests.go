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
		texts := make([]string, 0, 1+len(g.NextSteps)+len(g.Milestones))
		subject := memory.Subject{Title: g.Title, Texts: append(append(texts, g.Description), g.NextSteps...)}
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

// tell adds what the user told, the last of it last, to what is known of the user.
func (st *standing) tell(items []memory.Episode) {
	var told []string
	for i := len(items) - 1; i >= 0 && len(told) < maxFacts; i-- {
		if items[i].Type != memory.UserData {
			continue
		}
		if told == nil {
			told = make([]string, 0, maxFacts)
		}
		told = append(told, clip(items[i].Text, maxLine))
	}
	if told != nil {
		st.facts = append(told, st.facts[:min(len(st.facts), maxFacts-len(told))]...)
	}
}

// cares returns what the user cares about, by the facts that are known. Called by who commits to the session, alone.
func (st *standing) cares() *memory.Interests {
	if st.user == nil {
		st.user = new(memory.Facts)
	}
	return st.user.Interests(st.facts)
}

// pursues returns what the session's goals are about. It is made once for goals that stay as they are. Called by who
// commits to the session, alone.
func (st *standing) pursues() *memory.Interests {
	if st.goals.of != st.intentions {
		st.goals = pursuit{st.intentions, goalInterests(st.intentions)}
	}
	return st.goals.interests
}

// pursuit is what goals are about.
type pursuit struct {
	of        *cortex.State
	interests *memory.Interests
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
