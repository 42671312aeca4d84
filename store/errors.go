package store

import (
	"errors"
	"fmt"
)

// Sentinels that every store returns for the same cause; test with errors.Is.
var (
	// ErrClosed: the store was closed.
	ErrClosed = errors.New("store is closed")
	// ErrReadOnly: the file or database does not allow writing, or a View tried to write.
	ErrReadOnly = errors.New("store is read-only")
	// ErrFull: there is no room left on the device. What was acknowledged is safe.
	ErrFull = errors.New("no space left for the store")
	// ErrLocked: another process kept the store locked for too long. The update can be tried again.
	ErrLocked = errors.New("store is locked by another process")
	// ErrCorrupt: the data on disk is damaged.
	ErrCorrupt = errors.New("store is damaged")
	// ErrUnavailable: the database cannot be reached. The update was not made and can be tried again.
	ErrUnavailable = errors.New("store cannot be reached")
	// ErrUnknown: the connection broke while the update was being made durable. It is there whole or
	// not at all; an idempotency key makes trying again safe.
	ErrUnknown = errors.New("outcome of the update is unknown")
	// ErrRemoved: a file of the store was removed, moved or replaced while it was open. What was acknowledged before went into
	// the file that was there; no further update is taken until the store is opened anew.
	ErrRemoved = errors.New("a file of the store was removed or replaced while it was in use")
	// ErrNotEmpty: a load needs a store without sessions.
	ErrNotEmpty = errors.New("store is not empty")
)

// conditions are why a store takes no update, each with what to do about it. The outcome of one update comes last: what is
// wrong with the store says more.
var conditions = []struct {
	is  error
	fix string
}{
	{ErrRemoved, "put the files back or restore a backup, then restart the program"},
	{ErrFull, "make room on its disk"},
	{ErrReadOnly, "allow writing to it"},
	{ErrLocked, "try again in a moment, or end that process"},
	{ErrUnavailable, "try again in a moment, and check its disk or its server"},
	{ErrClosed, "try again when the program runs again"},
	{ErrUnknown, "send it again under the same idempotency key"},
}

// Condition says why a store took no update and what to do about it, in one line without paths and addresses. It returns an
// empty string where err is not of the condition of a store.
func Condition(err error) string {
	for _, c := range conditions {
		if !errors.Is(err, c.is) {
			continue
		}
		told := c.is.Error() + "; " + c.fix
		if c.is != ErrUnknown && errors.Is(err, ErrUnknown) {
			told += "; this update may have been kept: send it again under the same idempotency key"
		}
		return told
	}
	return ""
}

// Lasting reports whether the store of an error takes no update until somebody mends it: trying again in a moment is of no use.
func Lasting(err error) bool {
	return errors.Is(err, ErrRemoved) || errors.Is(err, ErrFull) || errors.Is(err, ErrReadOnly)
}

// NewerSchemaError says that the data was written by a newer program.
type NewerSchemaError struct{ Have, Know int }

func (e *NewerSchemaError) Error() string {
	return fmt.Sprintf("the store has schema version %d, this program knows up to %d; use a newer turnstone", e.Have, e.Know)
}
