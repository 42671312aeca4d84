// Package lite speaks to SQLite through its C interface as modernc.org/sqlite translates it to Go,
// without database/sql between.
//
// The store runs a handful of statements tens of thousands of times a second from one goroutine.
// Measured on the statements of an append, the driver's way (named values, interfaces, column
// names and declared types looked up on every query) costs a quarter of the time and eleven times
// the allocations of this one.
package lite

import (
	"context"
	"errors"
	"sync"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/sqlite/lib"
)

// Conn is one connection. It belongs to one goroutine at a time.
type Conn struct {
	tls   *libc.TLS
	db    uintptr
	stmts map[string]*Stmt
	// ctx is what the progress handler looks at; see Watch.
	ctx context.Context
	// frames is the length of the write-ahead log after this connection's last commit.
	frames int
	// log is nil until BufferLog.
	log    *logBuffer
	file   fileSync
	health *Health
}

// repair mends the size of memory pages on linux/arm64, as the driver does when it is loaded.
var repair = sync.OnceFunc(sqlite3.PatchIssue199)

// Mode is how a file is opened.
type Mode int

const (
	// ReadWrite opens a file and makes it where there is none.
	ReadWrite Mode = iota
	// ReadOnly opens a file that is there. Others may write to it.
	ReadOnly
	// Immutable opens a file on a medium that nobody can write to: no locks, no write-ahead log.
	Immutable
)

// Open opens the file. The error is an *[Error].
func Open(path string, mode Mode) (*Conn, error) {
	repair()
	flags := int32(sqlite3.SQLITE_OPEN_NOMUTEX | sqlite3.SQLITE_OPEN_EXRESCODE)
	switch mode {
	case ReadWrite:
		flags |= sqlite3.SQLITE_OPEN_READWRITE | sqlite3.SQLITE_OPEN_CREATE
	case ReadOnly:
		flags |= sqlite3.SQLITE_OPEN_READONLY
	case Immutable:
		flags |= sqlite3.SQLITE_OPEN_READONLY | sqlite3.SQLITE_OPEN_URI
		path = immutableURI(path)
	}
	c := &Conn{tls: libc.NewTLS(), stmts: make(map[string]*Stmt), health: &Health{}}
	name := c.cstring(path)
	defer c.free(name)
	out := c.alloc(int(unsafe.Sizeof(uintptr(0))))
	defer c.free(out)
	rc := sqlite3.Xsqlite3_open_v2(c.tls, name, out, flags, 0)
	c.db = *(*uintptr)(pointer(out))
	if rc != sqlite3.SQLITE_OK {
		err := c.error(rc)
		c.close()
		return nil, err
	}
	if err := c.keepPlans(); err != nil {
		c.close()
		return nil, err
	}
	c.watchFile()
	// This takes the place of the hook by which SQLite copies the log inside commits. The pragma
	// wal_autocheckpoint, also with 0, would take it out again.
	sqlite3.Xsqlite3_wal_hook(c.tls, c.db, function(noteFrames), uintptr(unsafe.Pointer(c)))
	return c, nil
}

// keepPlans has a statement planned once. Where a table has a partial index SQLite otherwise looks at what
// is bound and plans the statement anew each time it is run, which takes longer than running it.
func (c *Conn) keepPlans() error {
	const slot = 8 // of an argument in libc's lists, on every system
	args := c.alloc(2 * slot)
	defer c.free(args)
	if rc := sqlite3.Xsqlite3_db_config(c.tls, c.db, sqlite3.SQLITE_DBCONFIG_ENABLE_QPSG, libc.VaList(args, int32(1), uintptr(0))); rc != sqlite3.SQLITE_OK {
		return c.error(rc)
	}
	return nil
}

// Close finalises all statements and closes the connection.
func (c *Conn) Close() error {
	for _, s := range c.stmts {
		s.finalize()
	}
	c.stmts = nil
	return c.close()
}

func (c *Conn) close() error {
	var err error
	if c.db != 0 {
		c.SyncLater(false) // the last one to close copies the log
		if err = c.MendLog(); err != nil {
			err = c.MendLog() // the first sync may tell of what failed before
		}
		if c.log != nil && err == nil {
			c.mendFile() // should others be at work, they or who comes next see to it
		}
		if _, doubted := c.health.fileDoubted(); doubted || c.Unsure() {
			c.keepLog()
		}
		if rc := sqlite3.Xsqlite3_close(c.tls, c.db); rc != sqlite3.SQLITE_OK {
			err = errors.Join(err, c.error(rc))
		}
		c.db = 0
	}
	if c.log != nil {
		c.log.release()
	}
	c.free(c.file.methods)
	c.file.methods = 0
	c.tls.Close()
	return err
}

// Exec runs statements that are used once, separated by semicolons, and drops their rows.
func (c *Conn) Exec(sql string) error {
	text := c.cstring(sql)
	defer c.free(text)
	if rc := sqlite3.Xsqlite3_exec(c.tls, c.db, text, 0, 0, 0); rc != sqlite3.SQLITE_OK {
		return c.error(rc)
	}
	return nil
}

// InTransaction reports whether a transaction is open. SQLite may end one by itself when a
// statement fails.
func (c *Conn) InTransaction() bool {
	return sqlite3.Xsqlite3_get_autocommit(c.tls, c.db) == 0
}

// Writable reports whether the file could be opened for writing.
func (c *Conn) Writable() bool {
	main := c.cstring("main")
	defer c.free(main)
	return sqlite3.Xsqlite3_db_readonly(c.tls, c.db, main) == 0
}

// BusyTimeout sets how long a statement waits for the locks of other connections.
func (c *Conn) BusyTimeout(ms int) {
	sqlite3.Xsqlite3_busy_timeout(c.tls, c.db, int32(ms))
}

// LastInsertID returns the rowid of the last row that was inserted.
func (c *Conn) LastInsertID() int64 {
	return sqlite3.Xsqlite3_last_insert_rowid(c.tls, c.db)
}

// Changes returns how many rows the last statement wrote.
func (c *Conn) Changes() int64 {
	return sqlite3.Xsqlite3_changes64(c.tls, c.db)
}

// TotalChanges returns how many rows were written since the connection was opened.
func (c *Conn) TotalChanges() int64 {
	return sqlite3.Xsqlite3_total_changes64(c.tls, c.db)
}

// DataVersion returns what the pragma data_version does in a transaction that writes, without the statement. It changes when
// another connection has written.
func (c *Conn) DataVersion() int64 {
	tree := c.tree()
	return int64(pagerOf(tree).FiDataVersion + tree.FiBDataVersion)
}

func (c *Conn) tree() *sqlite3.TBtree {
	main := (*sqlite3.TDb)(pointer((*sqlite3.Tsqlite3)(pointer(c.db)).FaDb))
	return (*sqlite3.TBtree)(pointer(main.FpBt))
}

func pagerOf(tree *sqlite3.TBtree) *sqlite3.TPager {
	return (*sqlite3.TPager)(pointer((*sqlite3.TBtShared)(pointer(tree.FpBt)).FpPager))
}

// wal is what SQLite knows of the write-ahead log, nil if it is not in use.
func (c *Conn) wal() *sqlite3.TWal { return (*sqlite3.TWal)(pointer(pagerOf(c.tree()).FpWal)) }

// Frames returns how many pages the write-ahead log held after this connection's last commit.
func (c *Conn) Frames() int { return c.frames }

// Checkpoint copies the pages of the write-ahead log into the file. Without truncate it does not wait
// and copies what no reader stands in the way of; with it the log is emptied, or the error says that
// somebody else is at work, as it does after a sync of the file has failed. A log that is Unsure is not copied.
func (c *Conn) Checkpoint(truncate bool) (frames, copied int, err error) {
	mode := int32(sqlite3.SQLITE_CHECKPOINT_PASSIVE)
	if truncate {
		mode = sqlite3.SQLITE_CHECKPOINT_TRUNCATE
	}
	// HAZARD: pages that reach the file before the log is durable leave it half old and half new when the machine stops.
	c.SyncLater(false)
	if c.Unsure() {
		return 0, 0, c.error(sqlite3.SQLITE_IOERR_FSYNC)
	}
	if rc := c.mendFile(); rc != sqlite3.SQLITE_OK {
		return 0, 0, c.error(rc)
	}
	out := c.alloc(8)
	defer c.free(out)
	rc := sqlite3.Xsqlite3_wal_checkpoint_v2(c.tls, c.db, 0, mode, out, out+4)
	if rc != sqlite3.SQLITE_OK {
		return 0, 0, c.error(rc)
	}
	numbers := (*[2]int32)(pointer(out))
	return int(numbers[0]), int(numbers[1]), nil
}

// Watch makes statements end with an interrupt soon after ctx ends, until Unwatch is called. It must
// not be used in a transaction that writes: SQLite rolls back all of it.
//
// It costs a look at ctx every thousand steps of SQLite's machine, where a goroutine that calls
// sqlite3_interrupt would have to be started for every statement.
func (c *Conn) Watch(ctx context.Context) {
	if ctx.Done() == nil {
		return
	}
	c.ctx = ctx
	sqlite3.Xsqlite3_progress_handler(c.tls, c.db, 1000, function(checkContext), uintptr(unsafe.Pointer(c)))
}

// Unwatch lets statements run to their end again.
func (c *Conn) Unwatch() {
	if c.ctx != nil {
		c.ctx = nil
		sqlite3.Xsqlite3_progress_handler(c.tls, c.db, 0, 0, 0)
	}
}

// The callbacks get the Conn as a number. It stays where it is and alive: Go does not move what is
// on the heap, and whoever runs a statement holds on to the Conn.

func checkContext(_ *libc.TLS, conn uintptr) int32 {
	c := (*Conn)(pointer(conn))
	if c.ctx.Err() != nil {
		return 1
	}
	return 0
}

func noteFrames(_ *libc.TLS, conn, _, _ uintptr, frames int32) int32 {
	c := (*Conn)(pointer(conn))
	c.frames = int(frames)
	return sqlite3.SQLITE_OK
}
