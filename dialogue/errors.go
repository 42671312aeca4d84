package dialogue

import (
	"errors"
	"fmt"

	"github.com/turnstone-dev/turnstone/internal/invalid"
)

// Sentinels; test with errors.Is.
var (
	// ErrNotFound: there is no such revision along the spans, or no such flow in the state.
	ErrNotFound = errors.New("not found")
	// ErrConflict: a revision of that number is there already, written by somebody else.
	ErrConflict = errors.New("conflict")
	// ErrNotKept: an update came to nothing since the follow-up context could not be written. Without it, it may well not.
	ErrNotKept = errors.New("the follow-up context could not be kept")
)

// FieldError is bad input: it names the field, the problem and what to do instead.
type FieldError = invalid.Field

// OpError says that an operation is not legal on the state as it is. The state was not changed.
type OpError struct {
	Op      string // the operation: "stack on", "complete"
	Problem string // what stands against it
	Legal   string // what to do instead
}

func (e *OpError) Error() string { return e.Op + ": " + e.Problem + "; " + e.Legal }

func fieldErrorf(field, fix, format string, args ...any) error {
	return invalid.New(field, fmt.Sprintf(format, args...), fix)
}

// within puts the path of the enclosing value before the field of a FieldError, and makes one of
// any other error.
func within(path string, err error) error {
	if err == nil {
		return nil
	}
	var field *FieldError
	if !errors.As(err, &field) {
		return invalid.New(path, err.Error(), "")
	}
	if path != "" && field.Name != "" {
		path += "."
	}
	return invalid.New(path+field.Name, field.Problem, field.Fix)
}
