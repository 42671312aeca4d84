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
	// ErrNotEmpty: a load needs a store without sessions.
	ErrNotEmpty = errors.New("store is not empty")
)

// NewerSchemaError says that the data was written by a newer program.
type NewerSchemaError struct{ Have, Know int }

func (e *NewerSchemaError) Error() string {
	return fmt.Sprintf("the store has schema version %d, this program knows up to %d; use a newer turnstone", e.Have, e.Know)
}
