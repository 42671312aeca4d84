package replay

import (
	"errors"
	"fmt"
	"time"

	"github.com/turnstone-dev/turnstone/turn"
)

// Version is the newest version of the format, the one that is written. Every version from 1 on
// can be read.
const Version = 4

// Bundle is what a session bundle, the seed's developer-facing checkpoint, says of itself: the
// session it holds and the figures that prove it whole.
type Bundle struct {
	// Version is the version of the format that the bundle has.
	Version int64
	// CreatedAt is when the bundle was made.
	CreatedAt time.Time
	// Session is the session as it was then. Parent and ForkSeq say where a fork came from; its
	// turns are all in the bundle. Segment and Inherited are not part of a bundle.
	Session turn.SessionInfo

	// Records counts the lines between the first and the last, Counts those of each kind.
	Records int64
	Counts
	// SHA256 is the hexadecimal sum of all uncompressed bytes before the last line.
	SHA256 string
}

// Counts is how many records of each kind a bundle has.
type Counts struct {
	Blobs, Turns, Revisions, FlowTurns, CompletedFlows, Bookmarks int64
	// These are 0 in a bundle of version 1.
	Intentions, Observations, MemoryItems, Digests, TraceParts int64
	// These are 0 in a bundle of version 1 or 2.
	Materials, Settings, Epochs, Pins, Prompts int64
	// These are 0 in a bundle of version 3 or older.
	Checkpoints, Breakers, Snapshots int64
}

// count takes a record in.
func (b *Bundle) count(r Record) {
	b.Records++
	switch {
	case r.Blob != nil:
		b.Blobs++
	case r.Turn != nil:
		b.Turns++
	case r.Revision != nil:
		b.Revisions++
	case r.FlowTurn != nil:
		b.FlowTurns++
	case r.CompletedFlow != nil:
		b.CompletedFlows++
	case r.Bookmark != nil:
		b.Bookmarks++
	case r.Intention != nil:
		b.Intentions++
	case r.Observation != nil:
		b.Observations++
	case r.MemoryItem != nil:
		b.MemoryItems++
	case r.Digest != nil:
		b.Digests++
	case r.TracePart != nil:
		b.TraceParts++
	case r.Material != nil:
		b.Materials++
	case r.Settings != nil:
		b.Settings++
	case r.Checkpoint != nil:
		b.Checkpoints++
	case r.Epoch != nil:
		b.Epochs++
	case r.Pin != nil:
		b.Pins++
	case r.Prompt != nil:
		b.Prompts++
	case r.Breaker != nil:
		b.Breakers++
	case r.Snapshot != nil:
		b.Snapshots++
	}
}

// ErrDamaged says that a file is no whole bundle: cut off, changed, or not made by the rules. The
// error that wraps it names the line and what is wrong with it.
var ErrDamaged = errors.New("session bundle is damaged")

// NewerVersionError says that a bundle was made by a newer program, in a version of the format that
// this one does not know.
type NewerVersionError struct{ Have, Know int64 }

func (e *NewerVersionError) Error() string {
	return fmt.Sprintf("the bundle has format version %d, this program knows up to %d; use a newer turnstone", e.Have, e.Know)
}

// damage is an error in a line of a bundle.
func damage(line int64, format string, args ...any) error {
	return fmt.Errorf("%w: line %d: %w", ErrDamaged, line, fmt.Errorf(format, args...))
}
