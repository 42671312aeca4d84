package commit

import (
	"context"
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/record"
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
	answer, err := ask(ctx, m.Model, evaluatePrompt, s.tell(found), assessmentFields)
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
	answer, err := ask(ctx, m.Model, reflectPrompt, s.tell(a), learnedFields)
	if err != nil {
		return Reflection{}, fmt.Errorf("reflect: %w", err)
	}
	r.Lessons = append(r.Lessons, answer.lessons...)
	r.Patterns = append(r.Patterns, answer.patterns...)
	for _, lesson := range answer.lessons {
		r.Candidates = append(r.Candidates, memory.Candidate{Type: memory.Observation, Text: lesson, Source: memory.FromAgent, Tags: []string{"lesson"}})
	}
	for _, fact := range answer.facts {
		r.Candidates = append(r.Candidates, memory.Candidate{Type: memory.UserData, Text: fact, Source: memory.FromAgent, Tags: []string{"fact"}})
	}
	return r, nil
}

var assessmentFields = record.Fields[Assessment]{
	record.Value("success", func(a *Assessment) *bool { return &a.Success }, record.Bool()),
	record.Value("follow_up_needed", func(a *Assessment) *bool { return &a.FollowUpNeeded }, record.Bool()),
	record.List("issues", func(a *Assessment) *[]Issue { return &a.Issues }, record.Of(issueFields)),
}

type learned struct{ lessons, patterns, facts []string }

var learnedFields = record.Fields[learned]{
	record.List("lessons", func(l *learned) *[]string { return &l.lessons }, word),
	record.List("patterns", func(l *learned) *[]string { return &l.patterns }, word),
	record.List("facts", func(l *learned) *[]string { return &l.facts }, word),
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

// ask has a model fill in a record. Models like to put JSON into a fence; that much is forgiven.
func ask[T any](ctx context.Context, m llm.Model, system, user string, fields record.Fields[T]) (T, error) {
	answered, err := llm.Complete(ctx, m, llm.Request{
		JSON: true, Messages: []llm.Message{{Role: llm.System, Text: system}, {Role: llm.User, Text: user}},
	})
	var zero T
	if err != nil {
		return zero, err
	}
	answer := answered.Text
	from, to := strings.IndexByte(answer, '{'), strings.LastIndexByte(answer, '}')
	if from < 0 || to < from {
		return zero, fmt.Errorf("the model's answer is no JSON object: %s", firstLine(answer))
	}
	return fields.Decode(answer[from : to+1])
}
