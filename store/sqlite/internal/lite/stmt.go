package lite

import (
	"fmt"
	"maps"
	"slices"
	"unsafe"

	"modernc.org/sqlite/lib"
)

// Stmt is a prepared statement. Parameters are bound and columns are read from left to right, by
// one call each. A mistake in between is kept and returned by Step.
//
// A Stmt is used like this: Prepare, bind, Step until it returns false, Close; or Prepare, bind, Run.
type Stmt struct {
	c      *Conn
	p      uintptr
	sql    string
	arena  arena
	bound  int32
	column int32
	err    error
}

// Prepare returns the statement, made on its first use and kept for the next. It is ready to be bound
// from its first parameter on.
func (c *Conn) Prepare(sql string) *Stmt {
	s, ok := c.stmts[sql]
	if !ok {
		s = &Stmt{c: c, sql: sql}
		s.prepare()
		c.stmts[sql] = s
	}
	if s.p == 0 {
		s.prepare()
	}
	return s
}

// Statements lists the statements that were prepared so far.
func (c *Conn) Statements() []string { return slices.Collect(maps.Keys(c.stmts)) }

func (s *Stmt) prepare() {
	text := s.c.cstring(s.sql)
	defer s.c.free(text)
	out := s.c.alloc(int(unsafe.Sizeof(uintptr(0))))
	defer s.c.free(out)
	rc := sqlite3.Xsqlite3_prepare_v3(s.c.tls, s.c.db, text, int32(len(s.sql)), sqlite3.SQLITE_PREPARE_PERSISTENT, out, 0)
	s.err = nil
	if rc != sqlite3.SQLITE_OK {
		s.err = s.c.error(rc)
	}
	s.p = *(*uintptr)(pointer(out))
}

func (s *Stmt) check(rc int32) {
	if rc != sqlite3.SQLITE_OK && s.err == nil {
		s.err = s.c.error(rc)
	}
}

// Int binds an integer.
func (s *Stmt) Int(v int64) *Stmt {
	s.bound++
	s.check(sqlite3.Xsqlite3_bind_int64(s.c.tls, s.p, s.bound, v))
	return s
}

// Null binds nothing.
func (s *Stmt) Null() *Stmt {
	s.bound++
	s.check(sqlite3.Xsqlite3_bind_null(s.c.tls, s.p, s.bound))
	return s
}

// IntOrNull binds an integer, and nothing for 0.
func (s *Stmt) IntOrNull(v int64) *Stmt {
	if v == 0 {
		return s.Null()
	}
	return s.Int(v)
}

// Text binds a text.
func (s *Stmt) Text(v string) *Stmt {
	s.bound++
	s.check(sqlite3.Xsqlite3_bind_text64(s.c.tls, s.p, s.bound, s.arena.copy(s.c, v), uint64(len(v)),
		sqlite3.SQLITE_STATIC, sqlite3.SQLITE_UTF8))
	return s
}

// TextOf binds a text that is written right where SQLite reads it.
func (s *Stmt) TextOf(v interface {
	Len() int
	AppendTo(dst []byte) []byte
}) *Stmt {
	n := v.Len()
	p := s.arena.room(s.c, n)
	if text := v.AppendTo(unsafe.Slice((*byte)(pointer(p)), n)[:0]); len(text) != n && s.err == nil {
		s.err = fmt.Errorf("sqlite: a text of %d bytes came to %d", n, len(text))
	}
	s.bound++
	s.check(sqlite3.Xsqlite3_bind_text64(s.c.tls, s.p, s.bound, p, uint64(n), sqlite3.SQLITE_STATIC, sqlite3.SQLITE_UTF8))
	return s
}

// TextOrNull binds a text, and nothing for an empty one.
func (s *Stmt) TextOrNull(v string) *Stmt {
	if v == "" {
		return s.Null()
	}
	return s.Text(v)
}

// Bytes binds bytes, never nothing.
func (s *Stmt) Bytes(v []byte) *Stmt {
	s.bound++
	text := unsafe.String(unsafe.SliceData(v), len(v))
	s.check(sqlite3.Xsqlite3_bind_blob64(s.c.tls, s.p, s.bound, s.arena.copy(s.c, text), uint64(len(v)), sqlite3.SQLITE_STATIC))
	return s
}

// Value binds an int64, a string, a []byte or nil.
func (s *Stmt) Value(v any) *Stmt {
	switch v := v.(type) {
	case nil:
		return s.Null()
	case int64:
		return s.Int(v)
	case string:
		return s.Text(v)
	case []byte:
		return s.Bytes(v)
	}
	s.bound++
	if s.err == nil {
		s.err = fmt.Errorf("sqlite: a %T cannot be stored", v)
	}
	return s
}

// Step goes to the next row and reports whether there is one. After false or an error the statement
// is closed.
func (s *Stmt) Step() (bool, error) {
	if s.err != nil {
		err := s.err
		s.Close()
		return false, err
	}
	switch rc := sqlite3.Xsqlite3_step(s.c.tls, s.p); rc {
	case sqlite3.SQLITE_ROW:
		s.column = 0
		return true, nil
	case sqlite3.SQLITE_DONE:
		s.Close()
		return false, nil
	default:
		err := s.c.error(rc)
		s.Close()
		return false, err
	}
}

// Run steps over all rows.
func (s *Stmt) Run() error {
	for {
		if more, err := s.Step(); err != nil || !more {
			return err
		}
	}
}

// Close ends the run of the statement and readies it for the next. It may be called again.
func (s *Stmt) Close() {
	if s.p != 0 {
		// The code it returns is that of the last Step, reported there.
		sqlite3.Xsqlite3_reset(s.c.tls, s.p)
	}
	s.arena.reset(s.c)
	s.bound, s.err = 0, nil
}

func (s *Stmt) finalize() {
	if s.p != 0 {
		sqlite3.Xsqlite3_finalize(s.c.tls, s.p)
		s.p = 0
	}
	s.arena.release(s.c)
}

// IsNull reports whether the next column is null, without going past it.
func (s *Stmt) IsNull() bool {
	return sqlite3.Xsqlite3_column_type(s.c.tls, s.p, s.column) == sqlite3.SQLITE_NULL
}

// Skip goes past a column.
func (s *Stmt) Skip() { s.column++ }

// ReadInt reads an integer column, 0 where it is null.
func (s *Stmt) ReadInt() int64 {
	v := sqlite3.Xsqlite3_column_int64(s.c.tls, s.p, s.column)
	s.column++
	return v
}

// ReadText reads a text column, empty where it is null.
func (s *Stmt) ReadText() string { return string(s.ReadRaw()) }

// ReadBytes reads a column of bytes. They are the caller's.
func (s *Stmt) ReadBytes() []byte { return append([]byte{}, s.ReadRaw()...) }

// ReadRaw reads a column of text or bytes where SQLite keeps it: it is valid until the next step and
// must not be changed.
func (s *Stmt) ReadRaw() []byte {
	// Asking for text would make SQLite copy it first, to put a zero behind.
	p := sqlite3.Xsqlite3_column_blob(s.c.tls, s.p, s.column)
	n := sqlite3.Xsqlite3_column_bytes(s.c.tls, s.p, s.column)
	s.column++
	if p == 0 || n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(pointer(p)), n)
}

// ReadValue reads a column as what it holds: an int64, a string, a []byte or nil.
func (s *Stmt) ReadValue() any {
	switch sqlite3.Xsqlite3_column_type(s.c.tls, s.p, s.column) {
	case sqlite3.SQLITE_INTEGER:
		return s.ReadInt()
	case sqlite3.SQLITE_TEXT:
		return s.ReadText()
	case sqlite3.SQLITE_BLOB:
		return s.ReadBytes()
	}
	s.column++
	return nil
}
