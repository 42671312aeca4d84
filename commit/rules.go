package commit

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/memory"
)

// Rules is the Evaluator and Reflector that need no model. They look at what can be seen without
// understanding: tools that failed, errors that were reported, requests without an answer, goals whose time is over, and
// failures that come again, in one exchange or in several.
type Rules struct{}

// Evaluate implements [Evaluator]. It never fails.
func (rules Rules) Evaluate(_ context.Context, s *Situation) (Assessment, error) {
	return rules.assess(s), nil
}

func (Rules) assess(s *Situation) Assessment {
	var a Assessment
	if s.Failure != "" {
		a.Issues = append(a.Issues, Issue{ExchangeFailed, s.Failure})
	}
	ends := make(map[int]*failure) // by the last run that failed so
	for _, f := range failures(s) {
		ends[f.last] = f
	}
	for i := range s.Tools {
		if t := &s.Tools[i]; t.failed() {
			a.Issues = append(a.Issues, Issue{ToolFailed, t.Name + ": " + t.failure()})
		}
		if f := ends[i]; f != nil {
			if again, is := f.issue(); is {
				a.Issues = append(a.Issues, again)
			}
		}
	}
	a.report(s.Errors)
	if s.Reply == "" {
		if asked := request(s.Input); asked != "" {
			a.Issues = append(a.Issues, Issue{Unanswered, asked})
		}
	}
	for action := range s.Intentions.EachAction() {
		if !action.DueAt.IsZero() && action.DueAt.Before(s.Now) {
			a.Issues = append(a.Issues, Issue{GoalUnmet, fmt.Sprintf("%s was due %s", action.Title, action.DueAt.UTC().Format("2006-01-02 15:04 MST"))})
		}
	}
	for goal := range s.Intentions.EachGoal() {
		if goal.Status == cortex.GoalBlocked {
			a.Issues = append(a.Issues, Issue{GoalUnmet, goal.Title + " is blocked"})
		}
	}
	a.FollowUpNeeded = len(a.Issues) > 0 || s.Interrupted
	a.Success = s.Failure == "" && !s.Interrupted && !slices.ContainsFunc(a.Issues, Issue.fails)
	return a
}

// report makes issues of the errors of an exchange, of each once.
func (a *Assessment) report(errors []string) {
	for _, e := range errors {
		issue := Issue{ErrorReported, e}
		if e != "" && !slices.Contains(a.Issues, issue) {
			a.Issues = append(a.Issues, issue)
		}
		a.FollowUpNeeded = a.FollowUpNeeded || e != ""
	}
}

// fails reports whether the issue means that the exchange did not do what it was for. A tool may fail on
// the way to a good answer, and a goal may be late whatever this exchange did.
func (i Issue) fails() bool {
	return i.Kind == Unanswered || i.Kind == ExchangeFailed
}

// request returns the input if it asks for something: any input does that is not empty.
func request(input string) string { return firstLine(strings.TrimSpace(input)) }

// Reflect implements [Reflector]. It never fails.
func (rules Rules) Reflect(_ context.Context, s *Situation, a Assessment) (Reflection, error) {
	return rules.learn(s, a), nil
}

func (Rules) learn(s *Situation, a Assessment) Reflection {
	var r Reflection
	for _, issue := range a.Issues {
		if issue.Kind == RepeatedFailure {
			r.Patterns = append(r.Patterns, issue.Text)
			r.Lessons = append(r.Lessons, "Do not try it again unchanged: "+issue.Text)
		}
		if issue.Kind == Unanswered {
			r.Lessons = append(r.Lessons, "A request is still open: "+issue.Text)
		}
	}
	r.noteFailures(s)
	for _, lesson := range r.Lessons {
		r.Candidates = append(r.Candidates, memory.Candidate{
			Type: memory.Observation, Text: lesson, Source: memory.FromSystem, Tags: []string{"lesson"},
		})
	}
	return r
}

// maxLine bounds, in bytes, what is quoted of a text.
const maxLine = 240

// firstLine returns the first line of a text, cut where it is long.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.TrimSpace(line)
	if len(line) <= maxLine {
		return line
	}
	end := maxLine
	for end > 0 && line[end]&0xc0 == 0x80 {
		end--
	}
	return line[:end] + "…"
}
