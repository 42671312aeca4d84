package commit

import (
	"context"
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/memory"
)

// ModelEvaluator has a model judge exchanges. What the rules find is part of its answer: a model
// may overlook a failure, not talk it away. Few models answer within the default [Deadlines], which are
// 100 ms each: give it more.
type ModelEvaluator struct{ Model llm.Model }

const evaluatePrompt = `You judge one exchange between a user and an assistant. Answer with one JSON object and nothing else:
{"success": true or false, "follow_up_needed": true or false, "issues": [{"kind": "short_word", "text": "one sentence"}]}
success says whether the user got what was asked for. List only issues that the exchange shows.`

// Evaluate implements [Evaluator].
func (m ModelEvaluator) Evaluate(ctx context.Context, s *Situation) (Assessment, error) {
	found := Rules{}.assess(s)
	var said verdict
	err := ask(ctx, m.Model, evaluatePrompt, s.tell(found), &said)
	if err != nil {
		return Assessment{}, fmt.Errorf("evaluate: %w", err)
	}
	answer, err := said.assessment()
	if err != nil {
		return Assessment{}, fmt.Errorf("evaluate: %w", err)
	}
	answer.Issues = append(found.Issues, answer.Issues...)
	answer.Success = answer.Success && found.Success
	answer.FollowUpNeeded = answer.FollowUpNeeded || found.FollowUpNeeded
	return answer, nil
}

// ModelReflector has a model learn from exchanges, beside what the rules learn. See [ModelEvaluator] for its deadline.
type ModelReflector struct{ Model llm.Model }

const reflectPrompt = `You learn from one exchange between a user and an assistant. Answer with one JSON object and nothing else:
{"lessons": ["what to do differently next time"], "patterns": ["what keeps happening"], "facts": ["what the user told about themselves or their wishes"]}
Each is one sentence. Leave a list empty rather than guess.`

// Reflect implements [Reflector].
func (m ModelReflector) Reflect(ctx context.Context, s *Situation, a Assessment) (Reflection, error) {
	r := Rules{}.learn(s, a)
	var answer learned
	if err := ask(ctx, m.Model, reflectPrompt, s.tell(a), &answer); err != nil {
		return Reflection{}, fmt.Errorf("reflect: %w", err)
	}
	lessons := untold(answer.Lessons, r.Lessons)
	r.Lessons = append(r.Lessons, lessons...)
	r.Patterns = append(r.Patterns, untold(answer.Patterns, r.Patterns)...)
	for _, lesson := range lessons {
		r.Candidates = append(r.Candidates, memory.Candidate{Type: memory.Observation, Text: lesson, Source: memory.FromAgent, Tags: []string{"lesson"}})
	}
	for _, fact := range untold(answer.Facts, nil) {
		r.Candidates = append(r.Candidates, memory.Candidate{Type: memory.UserData, Text: fact, Source: memory.FromAgent, Tags: []string{"fact"}})
	}
	return r, nil
}

// maxTold bounds, in bytes, what of each side a model is shown.
const maxTold = 8 << 10

// tell describes the exchange for a model.
func (s *Situation) tell(a Assessment) string {
	var b strings.Builder
	fmt.Fprintf(&b, "User:\n%s\n\nAssistant:\n%s\n", clip(s.Input, maxTold), clip(s.Reply, maxTold))
	for i := range s.Tools {
		fmt.Fprintf(&b, "Tool %s: %s\n", s.Tools[i].describe(), firstLine(s.Tools[i].outcome()))
	}
	for _, goal := range s.Intentions.Goals() {
		fmt.Fprintf(&b, "Goal (%s): %s\n", goal.Status, goal.Title)
	}
	for _, issue := range a.Issues {
		fmt.Fprintf(&b, "Known issue: %s: %s\n", issue.Kind, issue.Text)
	}
	return b.String()
}

func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && text[limit]&0xc0 == 0x80 {
		limit--
	}
	return text[:limit] + " […]"
}

// ask has a model fill in an object.
func ask(ctx context.Context, m llm.Model, system, user string, into any) error {
	answered, err := llm.Complete(ctx, m, llm.Request{
		JSON: true, Messages: []llm.Message{{Role: llm.System, Text: system}, {Role: llm.User, Text: user}},
	})
	if err != nil {
		return err
	}
	return answerJSON(answered.Text, into)
}
