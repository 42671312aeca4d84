package sqlite

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// translate says what an error of SQLite means for the caller and what to do about it. What SQLite
// said stays in the chain. Other errors are returned as they are.
func (s *Store) translate(err error) error {
	var e *lite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch primary := e.Primary(); {
	case primary == lite.Full, e.Cause == syscall.ENOSPC, e.Cause == syscall.EDQUOT:
		return fmt.Errorf("%w: make room on the device of %s: %w", store.ErrFull, s.path, err)
	case primary == lite.ReadOnlyDB, primary == lite.Permission, e.Cause == syscall.EROFS: // the system makes a failing disk read-only
		return fmt.Errorf("%w: allow writing to %s and its folder: %w", store.ErrReadOnly, s.path, err)
	case primary == lite.Busy, primary == lite.Locked, primary == lite.Protocol:
		return fmt.Errorf("%w: %s; try again, or end the process that holds it: %w", store.ErrLocked, s.path, err)
	case primary == lite.Corrupt, primary == lite.NotADB:
		return s.damaged(err)
	case primary == lite.IOError, primary == lite.CantOpen:
		return fmt.Errorf("%w: check the disk and the file %s: %w", store.ErrUnavailable, s.path, err)
	}
	return err
}

// damaged is the error for data that cannot be what was written.
func (s *Store) damaged(err error) error {
	return fmt.Errorf("%w: run `turnstone doctor` on %s, or go back to a backup: %w", store.ErrCorrupt, s.path, err)
}

// taken reports whether the error says that a key is used already.
func taken(err error) bool {
	if err == nil {
		return false
	}
	var e *lite.Error
	return errors.As(err, &e) && e.Taken()
}

// code is the primary result code of an error of SQLite, 0 of any other.
func code(err error) int {
	if err == nil {
		return 0
	}
	var e *lite.Error
	if errors.As(err, &e) {
		return e.Primary()
	}
	return 0
}
