package commit

import (
	"context"
	"time"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/turn"
)

// Situation is what is known of an exchange when it is judged. It is shared and must not be changed.
type Situation struct {
	Session turn.SessionInfo
	Now     time.Time
	// Turns are all turns of the exchange, those that are in the log and those that will be.
	Turns       []Said
	Input       string // what the user said
	Reply       string // what the agent said; empty where it did not
	Interrupted bool
	Failure     string
	Tools       []ToolRun
	Daemons     []DaemonOutput
	Errors      []string
	Warnings    []string
	Intentions  *cortex.State
	Page        *scratch.Page
	Notes       scratch.Changes // what the exchange itself changes on the page
}

// Said is a turn of the exchange.
type Said struct {
	ID      string
	Seq     int64 // 0 while it is not in the log
	Role    turn.Role
	Content turn.Content
}

// ToolRun is a tool call and how it ended.
type ToolRun struct {
	TurnID    string // of the result, or of the call where there is none
	Name      string
	Arguments string
	Status    turn.CallStatus // empty where there is no result
	Result    string
}

// Issue is something about the exchange that was not as it should be.
type Issue struct {
	Kind IssueKind
	Text string
}

// IssueKind is what sort of issue it is.
type IssueKind string

// The kinds of issues that the rules find; others may find more.
const (
	ToolFailed      IssueKind = "tool_failed"
	Unanswered      IssueKind = "unanswered_request"
	GoalUnmet       IssueKind = "unmet_goal"
	RepeatedFailure IssueKind = "repeated_failure"
	ExchangeFailed  IssueKind = "exchange_failed"
	// ErrorReported is one of the exchange's errors. It is an issue whatever an Evaluator says.
	ErrorReported IssueKind = "reported_error"
)

// Assessment is an Evaluator's answer.
type Assessment struct {
	Success        bool
	Issues         []Issue
	FollowUpNeeded bool
}

// Reflection is a Reflector's answer: what was learned, and what should change because of it. Changes
// are staged, not written.
type Reflection struct {
	Lessons    []string
	Patterns   []string
	Intentions cortex.Changes
	Scratch    scratch.Changes
	Candidates []memory.Candidate
}

// Responder makes the final reply of an exchange. An empty reply leaves what the agent said as it
// is; another one is appended as the agent's last turn.
type Responder interface {
	Respond(ctx context.Context, s *Situation) (reply string, err error)
}

// Evaluator judges an exchange.
type Evaluator interface {
	Evaluate(ctx context.Context, s *Situation) (Assessment, error)
}

// Reflector learns from an exchange.
type Reflector interface {
	Reflect(ctx context.Context, s *Situation, a Assessment) (Reflection, error)
}

// RespondFunc makes a Responder of a function.
type RespondFunc func(ctx context.Context, s *Situation) (string, error)

// Respond implements [Responder].
func (f RespondFunc) Respond(ctx context.Context, s *Situation) (string, error) { return f(ctx, s) }

// EvaluateFunc makes an Evaluator of a function.
type EvaluateFunc func(ctx context.Context, s *Situation) (Assessment, error)

// Evaluate implements [Evaluator].
func (f EvaluateFunc) Evaluate(ctx context.Context, s *Situation) (Assessment, error) {
	return f(ctx, s)
}

// ReflectFunc makes a Reflector of a function.
type ReflectFunc func(ctx context.Context, s *Situation, a Assessment) (Reflection, error)

// Reflect implements [Reflector].
func (f ReflectFunc) Reflect(ctx context.Context, s *Situation, a Assessment) (Reflection, error) {
	return f(ctx, s, a)
}
