package cortex

import (
	"context"
	"errors"
	"time"

	"github.com/turnstone-dev/turnstone/internal/span"
)

// ErrStale says that a goal or an action was changed by somebody else since it was read. Read it again
// and decide anew.
var ErrStale = errors.New("it was changed in the meantime")

// ErrNotFound says that the session has no goal or action of that id.
var ErrNotFound = errors.New("not found")

// Kind tells goals from actions in the store.
type Kind string

// The two kinds of intention.
const (
	KindGoal   Kind = "goal"
	KindAction Kind = "action"
)

// Row is one version of a goal or an action as a store keeps it. Versions are only ever added, so
// that the rows are the audit and a fork sees what was true at its fork point.
type Row struct {
	Kind    Kind
	ID      string
	Version int64 // 1, 2, 3 …
	// AfterSeq is the session's last turn when it was written.
	AfterSeq int64
	// Live is false once it is finished or given up.
	Live   bool
	Doc    string // the whole goal or action, JSON
	Change string // who changed what and why, JSON
	At     time.Time
}

// Rows is what a store keeps of goals and actions, inside one of its transactions. A row is along the
// spans if its segment is in one of them and its AfterSeq is at most that span's To; From does not
// matter.
type Rows interface {
	// InsertVersion adds a version. ErrStale if the segment has that version of it.
	InsertVersion(ctx context.Context, tenant string, segment int64, r Row) error
	// Newest returns the highest version along the spans of each goal and action, ordered by kind and
	// id; with live only those whose highest version is live. Its cost does not depend on how many
	// are not live, nor much on how many versions there were.
	Newest(ctx context.Context, tenant string, spans []span.Span, live bool) ([]Row, error)
	// Versions returns every version of one along the spans, lowest first.
	Versions(ctx context.Context, tenant string, spans []span.Span, kind Kind, id string) ([]Row, error)

	// SetReminder has DueReminders name the action from the time on, in the place of any time before; with the zero time
	// no more. The action may be one that the segment's session has inherited, or lacks.
	SetReminder(ctx context.Context, tenant string, segment int64, id string, at time.Time) error
	// DueReminders returns up to limit actions, of all tenants, whose times have come, the earliest first. Its cost does
	// not depend on how many others there are. After a load it may also name, at once, what is no such reminder.
	DueReminders(ctx context.Context, now time.Time, limit int) ([]Due, error)
}
