// Package event is what is announced: events by their stable names, and the exports that wait in the
// outbox for the daemons.
package event

import "time"

// Kind names what happened. Names are never changed.
type Kind string

// The kinds there are.
const (
	// CommitEscalated: a target of a commit was given up after its last try.
	CommitEscalated Kind = "commit-escalated"
	// PromptTruncated: a provider counted fewer tokens than it was sent, so that it dropped some.
	PromptTruncated Kind = "prompt-truncated"
	// StreamOverflow: a reply went on past the window while it was streamed.
	StreamOverflow Kind = "stream-overflow-emergency"
	// SessionEnded: a session was ended.
	SessionEnded Kind = "session-ended"
)

// Event is something that happened in a session.
type Event struct {
	ID      string // a ULID
	Tenant  string
	Session string
	Kind    Kind
	TurnID  string // empty where it concerns no exchange
	Data    string // what is to be said about it, JSON
	At      time.Time
}

// Message is an export on its way to a daemon.
type Message struct {
	Tenant  string
	Session string
	ID      string // export_id: the same however often it is delivered
	TurnID  string
	// Segment is where the session is stored, 0 where the bus does not know.
	Segment int64
	// Number is the export's place among all that were published, where the bus knows it.
	Number int64
	Body   []byte // the whole StateExport, JSON; not to be changed
}
