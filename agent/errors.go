package agent

import (
	"errors"
	"fmt"

	"github.com/turnstone-dev/turnstone/internal/invalid"
)

// FieldError says which field of a configuration, an entry or an input is wrong and what to do.
type FieldError = invalid.Field

var (
	// ErrBusy says that the worker has a job already. Wait for it, or cancel it.
	ErrBusy = errors.New("the worker has a running job")
	// ErrNoAnswer says that the model ended its answer without a text and without a call.
	ErrNoAnswer = errors.New("the model answered nothing")
	// ErrDenied says that a call was not confirmed. A hook may return it, or any other error with its reason.
	ErrDenied = errors.New("not confirmed")
	// ErrCancelled is the cause of a job that [Job.Cancel] ended. The job's error is context.Canceled too.
	ErrCancelled = errors.New("the job was cancelled")
)

// LimitError says that a model went past a bound of the [Loop], which ended the exchange. It is always handled as
// *LimitError.
type LimitError struct {
	// Limit is the field of [Config] that bounds it.
	Limit string
	// Most is its value.
	Most int
}

// Error is one line: what happened, and what to do.
func (e *LimitError) Error() string {
	return fmt.Sprintf("the model did not come to an end within %s %d; ask for less, or raise the limit", e.Limit, e.Most)
}

// PanicError is a panic of a tool, a hook, a model or a conversation. It is always handled as *PanicError.
type PanicError struct {
	Value any
	Stack []byte
}

// Error is the panic's value, without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
