package lite

import (
	"fmt"
	"syscall"

	"modernc.org/sqlite/lib"
)

// Error is what SQLite says went wrong.
type Error struct {
	Code    int // extended result code
	Message string
	Cause   syscall.Errno // what the system said, 0 where it was not asked
}

func (e *Error) Error() string {
	if e.Cause != 0 {
		return fmt.Sprintf("sqlite: %s (%d): %s", e.Message, e.Code, e.Cause)
	}
	return fmt.Sprintf("sqlite: %s (%d)", e.Message, e.Code)
}

// Primary is the result code without its extension.
func (e *Error) Primary() int { return e.Code & 0xff }

// Taken reports whether a row was refused because its key is used already.
func (e *Error) Taken() bool {
	switch e.Code {
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_ROWID:
		return true
	}
	return false
}

// The primary result codes that the store tells apart.
const (
	Busy       = sqlite3.SQLITE_BUSY
	Locked     = sqlite3.SQLITE_LOCKED
	Protocol   = sqlite3.SQLITE_PROTOCOL // others held the index of the log for long
	NoMemory   = sqlite3.SQLITE_NOMEM
	ReadOnlyDB = sqlite3.SQLITE_READONLY
	Interrupt  = sqlite3.SQLITE_INTERRUPT
	IOError    = sqlite3.SQLITE_IOERR
	Corrupt    = sqlite3.SQLITE_CORRUPT
	Full       = sqlite3.SQLITE_FULL
	CantOpen   = sqlite3.SQLITE_CANTOPEN
	NotADB     = sqlite3.SQLITE_NOTADB
	Permission = sqlite3.SQLITE_PERM
	TooBig     = sqlite3.SQLITE_TOOBIG
)

func (c *Conn) error(rc int32) error {
	e := &Error{Code: int(rc), Message: gostring(sqlite3.Xsqlite3_errstr(c.tls, rc))}
	// The connection's own message says more, unless it is about another call.
	if c.db != 0 && sqlite3.Xsqlite3_extended_errcode(c.tls, c.db) == rc {
		e.Message = gostring(sqlite3.Xsqlite3_errmsg(c.tls, c.db))
	}
	switch e.Primary() {
	case IOError, CantOpen, Full:
		if c.db != 0 {
			e.Cause = syscall.Errno(sqlite3.Xsqlite3_system_errno(c.tls, c.db))
		}
	}
	return e
}
