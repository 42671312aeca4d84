package turnstone

import (
	"errors"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// What a caller has to tell apart, for errors.Is. Other errors name what is wrong and what to do; those of a model
// are an *[github.com/turnstone-dev/turnstone/llm.Error].
var (
	// ErrNotFound says that there is no such session, turn, bookmark or blob in this tenant.
	ErrNotFound = turn.ErrNotFound
	// ErrBusy says that somebody else is at work on the session: a worker in another engine holds its lease, or turns
	// kept coming while it was to be ended.
	ErrBusy = errors.New("the session is busy; try again in a moment")
	// ErrOverBudget says that a prompt cannot be made to fit the model's window. It comes as a
	// *[budget.OverBudgetError], which says where every token goes.
	ErrOverBudget = budget.ErrOverBudget
	// ErrClosed says that the engine or its store was closed.
	ErrClosed = store.ErrClosed
)

// busy makes an ErrBusy of a lease that somebody else holds.
func busy(err error) error {
	var held *turn.LeaseHeldError
	if errors.As(err, &held) && !errors.Is(err, ErrBusy) {
		return busyError{err}
	}
	return err
}

// busyError is an ErrBusy in the words of its cause, which says until when.
type busyError struct{ error }

func (e busyError) Unwrap() []error { return []error{ErrBusy, e.error} }
