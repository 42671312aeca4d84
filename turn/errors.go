package turn

import (
	"errors"
	"fmt"
	"time"

	"github.com/turnstone-dev/turnstone/internal/invalid"
)

// Sentinels that every store returns for the same cause; test with errors.Is.
var (
	// ErrNotFound: the named session, turn, bookmark or blob does not exist in this tenant.
	ErrNotFound = errors.New("not found")
	// ErrExists: a session or bookmark of that name is there already.
	ErrExists = errors.New("exists already")
	// ErrConflict: the write contradicts what is stored, such as an idempotency key that was used
	// for another body. Writing the same again cannot succeed.
	ErrConflict = errors.New("conflict")
	// ErrLeaseLost: the lease token is not, or no longer, the session's. The write was refused.
	ErrLeaseLost = errors.New("the lease was lost; acquire it again before writing")
)

// FieldError is bad input: it names the field, the problem and what to do instead.
type FieldError = invalid.Field

// DraftError says which of the drafts of an append is refused, where it is bad input. Its text is that of the
// *[FieldError] within.
type DraftError struct {
	Index int // from 0
	Err   error
}

func (e *DraftError) Error() string { return e.Err.Error() }

// Unwrap is what is wrong with the draft.
func (e *DraftError) Unwrap() error { return e.Err }

// ofDraft names the draft that an error is of, where it is bad input.
func ofDraft(index int, err error) error {
	var field *FieldError
	if errors.As(err, &field) {
		return &DraftError{Index: index, Err: err}
	}
	return err
}

// LeaseHeldError says that another worker holds the session's lease.
type LeaseHeldError struct {
	Session string
	Until   time.Time
}

func (e *LeaseHeldError) Error() string {
	who := "session " + e.Session + " is in use by another worker"
	if (Key{Session: e.Session}).Importing() {
		who = "an import is under way"
	}
	return fmt.Sprintf("%s until %s; try again then", who, e.Until.UTC().Format(time.RFC3339))
}

func fieldErrorf(field, fix, format string, args ...any) error {
	return invalid.New(field, fmt.Sprintf(format, args...), fix)
}
