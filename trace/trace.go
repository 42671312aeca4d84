package trace

import "time"

// Keep is how long traces are kept.
const Keep = 90 * 24 * time.Hour

// TurnTrace is the story of one exchange.
type TurnTrace struct {
	TurnID   string
	Session  string
	ExportID string // empty if the exchange was never exported
	// Status is how the exchange stands at the end of the trace.
	Status  string
	Started time.Time
	Spans   []Span
	Entries []Entry
	// Elsewhere are the exchanges that the turn opened in other sessions, as forks are.
	Elsewhere []Exchange
}

// Exchange is one that another trace tells of.
type Exchange struct {
	Session  string
	ExportID string
}

// Span is one phase.
type Span struct {
	Phase  string
	Start  time.Duration // since the trace began
	Length time.Duration
	// Error says why the phase, or something in it, did not end well; empty where it did.
	Error string
}

// Kind is what an entry tells about.
type Kind string

// The kinds of entries.
const (
	Decision      Kind = "decision"
	Tool          Kind = "tool_invocation"
	Observation   Kind = "observation"
	Failure       Kind = "error"
	Policy        Kind = "policy"
	Summary       Kind = "summary"
	Inconsistency Kind = "inconsistency" // something did not fit together; work went on with what was there
	Retry         Kind = "retry"         // a target was tried again
	Published     Kind = "publication"
	Delivered     Kind = "delivery" // what a daemon did with the export
)

// Entry is one thing that happened.
type Entry struct {
	At    time.Duration // since the trace began
	Kind  Kind
	Phase string // empty after the commit
	Text  string
}

// End is when the last thing happened, counted from the trace's beginning.
func (t *TurnTrace) End() time.Duration {
	var end time.Duration
	for _, s := range t.Spans {
		end = max(end, s.Start+s.Length)
	}
	for _, e := range t.Entries {
		end = max(end, e.At)
	}
	return end
}
