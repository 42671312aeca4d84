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
	// ReminderEscalated: a reminder was sent a day ago and nobody answered it. Data names the action.
	ReminderEscalated Kind = "reminder-escalated"
	// ItemFlagged: goals, actions or notes did not agree with a change that an exchange made of them, which was refused. Data names
	// each of them and what stood against it.
	ItemFlagged Kind = "item-flagged"
	// PromptTruncated: a provider counted fewer tokens than it was sent, so that it dropped some.
	PromptTruncated Kind = "prompt-truncated"
	// VocabularyMismatch: a model's own vocabulary, which made counts exact, gives far more tokens or far fewer than the
	// model's server counted, and its tokens are estimated from then on.
	VocabularyMismatch Kind = "vocabulary-mismatch"
	// StreamOverflow: a reply went on past the window while it was streamed.
	StreamOverflow Kind = "stream-overflow-emergency"
	// SessionEnded: a session was ended.
	SessionEnded Kind = "session-ended"
	// SessionReopened: a session that had ended goes on, since something was said in it.
	SessionReopened Kind = "session-reopened"
	// Forgotten: something of a session was forgotten. Its data is the receipt; whoever keeps copies of exports drops
	// theirs.
	Forgotten Kind = "forgotten"

	// Compressed: a pass of compression took turns out of the prompt.
	Compressed Kind = "compressed"
	// CompressionSkipped: a pass was asked for, or due, and not made, since nothing would have come of it.
	CompressionSkipped Kind = "compression-skipped"
	// CompressionError: a pass, made by itself or asked for, could not be stored or would have lost something, and the
	// prompt is what it was; or a pass was made without the summariser, since its answers were refused or did not come
	// in time; or a checkpoint was damaged, and another stands in its place. Data says which.
	CompressionError Kind = "compression-error"
	// RolloverComplete: everything but the newest turns became one summary, as in the smallest windows.
	RolloverComplete Kind = "rollover-complete"
	// AutoSummaryCreated: a checkpoint was added, by any pass that turned its turns into a summary, also by one that
	// was asked for, or in the place of one that was damaged. It is stored with the pass, once for each checkpoint, and
	// not for those that only aged.
	AutoSummaryCreated Kind = "auto-summary-created"
	// Tier1Compressed and its like: a pass was made in a window of that tier.
	Tier1Compressed Kind = "tier1-compressed"
	Tier2Compressed Kind = "tier2-compressed"
	Tier3Compressed Kind = "tier3-compressed"
	Tier4Compressed Kind = "tier4-compressed"
	Tier5Compressed Kind = "tier5-compressed"

	// SnapshotCreated: a user took a snapshot.
	SnapshotCreated Kind = "snapshot-created"
	// SnapshotRestored: a session went back to a snapshot.
	SnapshotRestored Kind = "snapshot-restored"
	// Undone: a pass or a restore was taken back. Pass 0 in its data is a restore.
	Undone Kind = "undone"
	// SnapshotError: a snapshot could not be taken, by the user or automatically, deleted or gone back to.
	SnapshotError Kind = "snapshot-error"
	// AutoSnapshotCreated: the engine took a snapshot by itself.
	AutoSnapshotCreated Kind = "auto-snapshot-created"
)

// TierCompressed is the kind of a pass in a window of that tier, 1 to 5; others count as the nearest of them.
func TierCompressed(tier int) Kind {
	kinds := [...]Kind{Tier1Compressed, Tier2Compressed, Tier3Compressed, Tier4Compressed, Tier5Compressed}
	return kinds[min(max(tier, 1), len(kinds))-1]
}

// Event is something that happened in a session.
type Event struct {
	ID      string // a ULID
	Tenant  string
	Session string
	Kind    Kind
	TurnID  string // empty where it concerns no exchange
	Data    string // what is to be said about it, JSON
	At      time.Time
	// Place is where the event stands among those of its tenant: from 1, rising, not without gaps. It is given when
	// events are first read, 0 before.
	Place int64
}

// Message is an export on its way to a daemon.
type Message struct {
	Tenant  string
	Session string
	ID      string // export_id: the same however often it is delivered
	TurnID  string
	// Segment is where the session is stored, 0 where the bus does not know.
	Segment int64
	// Number is the export's place among all that were published, where the bus knows it. It rises from one to the next; on NATS,
	// where it is the message's place in the stream, it skips those in which daemons say what they did.
	Number int64
	Body   []byte // the whole StateExport, JSON; not to be changed
}
