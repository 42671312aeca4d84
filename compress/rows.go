package compress

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/internal/span"
	"github.com/turnstone-dev/turnstone/turn"
)

// ErrNotFound says that there is no such checkpoint.
var ErrNotFound = errors.New("no such checkpoint")

// ErrStale says that somebody else made that checkpoint first.
var ErrStale = errors.New("the checkpoint was made in the meantime")

// ErrEmptied says that there is nothing left of a checkpoint, or of a version of it, but its number. It is a
// [turn.ErrForgotten].
var ErrEmptied = fmt.Errorf("it was emptied: of what it told, %w", turn.ErrForgotten)

// Row is one version of a checkpoint as a store keeps it. Versions are only ever added: aging makes a new one,
// and what an older prompt showed stays.
type Row struct {
	Number   int64  // 1, 2, 3 … along a session's lineage
	Version  int64  // 1, 2, 3 …
	AfterSeq int64  // the session's last turn when it was made
	Doc      string // empty where it was emptied: something that it told was forgotten
	At       time.Time
}

// Compare orders rows by number and version.
func (r Row) Compare(to Row) int {
	return cmp.Or(cmp.Compare(r.Number, to.Number), cmp.Compare(r.Version, to.Version))
}

// FirstNumbers orders the rows and returns all versions of the first numbers, for stores that have them one segment
// after the other.
func FirstNumbers(rows []Row, limit int) []Row {
	slices.SortStableFunc(rows, Row.Compare)
	numbers := 0
	for i, row := range rows {
		if i > 0 && row.Number == rows[i-1].Number {
			continue
		}
		if numbers++; numbers > limit {
			return rows[:i]
		}
	}
	return rows
}

// Rows is what a store keeps of checkpoints, inside one of its transactions. A row is along the spans if its
// segment is in one of them and its AfterSeq is at most that span's To; From does not matter.
type Rows interface {
	// InsertCheckpoint adds a version. ErrStale if the segment has that version of that number.
	InsertCheckpoint(ctx context.Context, tenant string, segment int64, r Row) error
	// Checkpoint returns one version along the spans, ErrNotFound where there is none.
	Checkpoint(ctx context.Context, tenant string, spans []span.Span, number, version int64) (Row, error)
	// Checkpoints returns up to limit numbers' versions along the spans, of numbers greater than after, by
	// number and version. All versions of a number come together.
	Checkpoints(ctx context.Context, tenant string, spans []span.Span, after int64, limit int) ([]Row, error)
	// LastNumber is the highest number along the spans, 0 where there is none. It is an index seek.
	LastNumber(ctx context.Context, tenant string, spans []span.Span) (int64, error)

	// PutBreaker writes what is known of a session's failed passes, JSON, in place of what was there.
	PutBreaker(ctx context.Context, tenant string, segment int64, doc string, at time.Time) error
	// Breaker returns it; ok is false where there is nothing.
	Breaker(ctx context.Context, tenant string, segment int64) (doc string, ok bool, err error)
}
