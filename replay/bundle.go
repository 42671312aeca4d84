package replay

import (
	"errors"
	"fmt"
	"time"

	"github.com/turnstone-dev/turnstone/turn"
)

// Version is the newest version of the format, the one that is written. Every version from 1 on
// can be read.
const Version = 1

// Bundle is what a session bundle, the seed's developer-facing checkpoint, says of itself: the
// session it holds and the figures that prove it whole.
type Bundle struct {
	// CreatedAt is when the bundle was made.
	CreatedAt time.Time
	// Session is the session as it was then. Parent and ForkSeq say where a fork came from; its
	// turns are all in the bundle. Segment and Inherited are not part of a bundle.
	Session turn.SessionInfo

	// Records and Turns count the lines between the first and the last, and the turns among them.
	Records, Turns int64
	// SHA256 is the hexadecimal sum of all uncompressed bytes before the last line.
	SHA256 string
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
