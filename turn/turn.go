package turn

import (
	"time"

	"github.com/turnstone-dev/turnstone/internal/span"
)

// Turn is one contribution of one role, exactly as it happened. A Turn that came out of a log is
// never changed; its Content may be shared between readers.
type Turn struct {
	ID      string // ULID
	Session string // the session it was read through; a fork shows its parent's turns as its own
	Seq     int64  // position in the session, from 1, gapless
	Role    Role
	Form    Form
	Kind    Kind
	Content Content
	// CreatedAt is for people. It never orders turns: clocks go back and stand still.
	CreatedAt time.Time
	// Unit is the seq of the tool call this turn belongs to, its own for the call itself,
	// and 0 for a turn that is no part of a unit.
	Unit int64
	// MessageID is shared by the turns of one message of several parts.
	MessageID      string
	IdempotencyKey string
	Covers         Range // of a summary: the turns it stands for
	Meta           Meta
}

// Kind sets special entries apart from ordinary turns.
type Kind string

const (
	// KindTurn is an ordinary turn.
	KindTurn Kind = "turn"
	// KindSummary is a system text computed elsewhere, stored here with the range it covers. The
	// log keeps summaries and never makes them.
	KindSummary Kind = "summary"
)

// Range is an inclusive range of seqs; the zero value is no range.
type Range struct{ From, To int64 }

// Meta is what is known about how a turn came to be. Zero fields are unknown.
type Meta struct {
	Tokens  int64
	Model   string
	Latency time.Duration // stored in microseconds
	// Interrupted marks a reply that was cut short: there would have been more.
	Interrupted bool
}

// Span is a range of turns in one segment of the log's storage.
type Span = span.Span

// Utterance reports whether the turn is something a user or agent said: text or speech.
func (t *Turn) Utterance() bool {
	return t.Role != System && (t.Form == FormText || t.Form == FormSpeech)
}

// Calls returns the tool calls of the turn, none for most. The slice must not be changed.
func (t *Turn) Calls() []ToolCall {
	if c, ok := t.Content.(Text); ok {
		return c.ToolCalls
	}
	return nil
}
