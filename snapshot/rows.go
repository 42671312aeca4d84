// Package snapshot is how we go back: positions of a session that can be returned to.
//
// The log keeps every turn and epochs are never changed, so that a snapshot is a place in both: it is lossless
// without copying anything.
package snapshot

import (
	"context"
	"errors"
	"time"

	"github.com/turnstone-dev/turnstone/internal/span"
)

// ErrNotFound says that there is no such snapshot.
var ErrNotFound = errors.New("no such snapshot")

// ErrExists says that there is a snapshot of that id already.
var ErrExists = errors.New("snapshot exists already")

// Row is a snapshot as a store keeps it.
type Row struct {
	ID       string // a ULID
	AfterSeq int64  // the session's last turn when it was taken
	Auto     bool   // it was taken by the engine, and is swept once there are newer ones
	Doc      string // JSON
	At       time.Time
}

// Rows is what a store keeps of snapshots, inside one of its transactions. A row is along the spans if its
// segment is in one of them and its AfterSeq is at most that span's To; From does not matter.
type Rows interface {
	// InsertSnapshot adds a snapshot. ErrExists if the tenant has one of that id.
	InsertSnapshot(ctx context.Context, tenant string, segment int64, r Row) error
	// Snapshot returns one along the spans, ErrNotFound where there is none.
	Snapshot(ctx context.Context, tenant string, spans []span.Span, id string) (Row, error)
	// Snapshots returns up to limit snapshots along the spans with an id smaller than before (all, if it is
	// empty), the newest first by id.
	Snapshots(ctx context.Context, tenant string, spans []span.Span, before string, limit int) ([]Row, error)
	// DeleteSnapshot removes one of the segment's own. ErrNotFound where there is none.
	DeleteSnapshot(ctx context.Context, tenant string, segment int64, id string) error
	// SweepSnapshots deletes all but the newest keep of the automatic ones of every session of the tenant that
	// has more, up to limit. The others stay, however many they are.
	SweepSnapshots(ctx context.Context, tenant string, keep, limit int) (int64, error)
}
