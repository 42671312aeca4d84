package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"time"
)

// Exchange is a finished exchange. Turns, or the TurnID of the one that opened it, are needed and nothing else. What is
// JSON here is described in docs/exchange.md.
type Exchange struct {
	ExportID      string          `json:"export_id,omitempty"` // a ULID that makes it harmless to commit it again
	TurnID        string          `json:"turn_id,omitempty"`   // the turn that opened it, where it is in the log already
	Turns         []Draft         `json:"turns,omitempty"`     // those that are not in the log yet
	Again         bool            `json:"again,omitempty"`     // what TurnID opened failed: this answers it
	AgentID       string          `json:"agent_id,omitempty"`
	StartedAt     time.Time       `json:"started_at,omitzero"`
	Urgency       string          `json:"urgency,omitempty"`     // "HIGH", "MEDIUM" or "LOW"
	Interrupted   bool            `json:"interrupted,omitempty"` // the reply was cut short
	Failure       string          `json:"failure,omitempty"`     // why there is no reply
	DaemonOutputs []DaemonOutput  `json:"daemon_outputs,omitempty"`
	Errors        []string        `json:"errors,omitempty"`
	Warnings      []string        `json:"warnings,omitempty"`
	BudgetUsed    int64           `json:"budget_used,omitempty"`
	BudgetTotal   int64           `json:"budget_total,omitempty"`
	Candidates    []Candidate     `json:"candidates,omitempty"` // what may be worth remembering
	Intentions    *Intentions     `json:"intentions,omitempty"`
	Scratch       json.RawMessage `json:"scratch,omitempty"`
	FollowUp      json.RawMessage `json:"follow_up,omitempty"`
}

// Candidate is what may be worth remembering. It needs a type, and a text or data.
type Candidate struct {
	Type string          `json:"type"` // "user_data", "tool_execution", "observation", "error", "scratch_item" or "event"
	Text string          `json:"text,omitempty"`
	Data json.RawMessage `json:"data,omitempty"`
	// DataText is data as the text of its JSON, in its place: it is kept byte for byte, while Data is compacted on its way.
	DataText string             `json:"data_text,omitempty"`
	Tags     []string           `json:"tags,omitempty"`
	Links    *Links             `json:"links,omitempty"`
	Source   string             `json:"source,omitempty"` // "user", "agent", "tool", "system" or "daemon"
	Inputs   map[string]float64 `json:"inputs,omitempty"` // of its importance, in place of what would be computed
}

// Links are the ids of turns and items of memory that something is about.
type Links struct {
	Turns []string `json:"turns,omitempty"`
	Items []string `json:"items,omitempty"`
}

// DaemonOutput is what a daemon contributed to an exchange.
type DaemonOutput struct {
	Daemon string `json:"daemon"`
	Output string `json:"output"`
}

// Intentions are changes of goals and of actions.
type Intentions struct {
	Goals   []GoalChange     `json:"goals,omitempty"`
	Actions []map[string]any `json:"actions,omitempty"`
}

// Committed is what became of an exchange.
type Committed struct {
	Session    string            `json:"session_id"`
	Status     string            `json:"status"` // "complete", "complete_with_errors", "interrupted" or "failed"
	ExportID   string            `json:"export_id"`
	TurnID     string            `json:"turn_id"`
	Repeated   bool              `json:"repeated"` // it was committed before, nothing was written, and what the first commit wrote is told again
	Reopened   bool              `json:"reopened"` // the session had ended and goes on with this exchange
	Turns      []Turn            `json:"turns"`
	Remembered []json.RawMessage `json:"remembered"`
	Dropped    []Dropped         `json:"dropped"`      // the first 100 of what was not remembered
	More       int64             `json:"dropped_more"` // how many more were not
	Changed    []Outcome         `json:"changed"`      // what it made has its id here
	Refused    []Refusal         `json:"refused"`
	Deferred   []string          `json:"deferred"` // what could not be written yet and is tried again
	Problems   []string          `json:"problems"`
}

// Dropped is a candidate that was not remembered.
type Dropped struct {
	Candidate  int     `json:"candidate"` // its place in the list
	Type       string  `json:"type"`
	Reason     string  `json:"reason"`
	Importance float64 `json:"importance"`
}

// Outcome is a goal, an action or a note as a commit left it.
type Outcome struct {
	Kind   string `json:"kind"` // "goal", "action" or "observation"
	ID     string `json:"id"`
	Title  string `json:"title"` // what a goal or an action is called, or how a note that is live begins
	Status string `json:"status"`
}

// Refusal is a change that is not legal.
type Refusal struct {
	What   string `json:"what"`
	Reason string `json:"reason"`
}

// Commit makes a finished exchange durable: its turns, what is remembered of it, changes of goals and notes, and the
// export for daemons. When it returns, all of it is on disk. It is safe to be tried again, and is: an exchange without an
// ExportID has an idempotency key for the call.
func (s *Session) Commit(ctx context.Context, ex Exchange) (Committed, error) {
	key := ""
	if ex.ExportID == "" {
		key = rand.Text()
	}
	return ask[Committed](ctx, s.client, call{
		method: http.MethodPost, path: path("/sessions/%s/commit", s.id), in: ex, key: key, again: true,
	})
}
