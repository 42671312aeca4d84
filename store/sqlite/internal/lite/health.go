package lite

import (
	"sync"
	"sync/atomic"

	"modernc.org/libc"
	"modernc.org/sqlite/lib"
)

// Health is what the connections of a process to one file know together of the disk it is on: of a sync that fails the system
// tells one of them, once. It is safe for concurrent use, and its zero value is that of a disk which never failed.
type Health struct {
	unsure atomic.Bool // nobody knows what of the log is on the disk
	broken atomic.Bool // and not all that was committed was found in the log
	mu     sync.Mutex  // guards what follows
	copied bool        // what was copied from the log to the file may not be on the disk
	salts  [2]uint32   // of that log
}

// Share has the connection know what others know, and tell them.
func (c *Conn) Share(h *Health) { c.health = h }

// Unsure reports whether nobody knows what of the log is on the disk. Nothing is committed or copied until MendLog.
func (c *Conn) Unsure() bool { return c.health.unsure.Load() }

// Broken reports whether commits that others may have seen are not in the log any more, or could not be read, when it was to
// be mended. Whoever opens the file anew finds those that are there.
func (c *Conn) Broken() bool { return c.health.broken.Load() }

// Doubt makes a buffered log Unsure: somebody else may have seen a sync of it fail.
func (c *Conn) Doubt() {
	if c.log != nil {
		c.health.unsure.Store(true)
	}
}

// DoubtFile has the log copied again from its beginning: somebody else may have seen a sync of the file fail.
func (c *Conn) DoubtFile() {
	if wal := c.wal(); wal != nil {
		c.health.doubtFile(wal.Fhdr.FaSalt)
	}
}

func (h *Health) doubtFile(log [2]uint32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.copied, h.salts = true, log
}

// fileDoubted reports whether a copy may not be on the disk, and of which log it was.
func (h *Health) fileDoubted() (log [2]uint32, doubted bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.salts, h.copied
}

func (h *Health) trustFile() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.copied = false
}

// keepLog has SQLite leave the log where it is when the last connection is closed, in place of copying it: whoever opens the
// file next knows how.
func (c *Conn) keepLog() {
	const slot = 8 // of an argument in libc's lists, on every system
	args := c.alloc(2 * slot)
	defer c.free(args)
	sqlite3.Xsqlite3_db_config(c.tls, c.db, sqlite3.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, libc.VaList(args, int32(1), uintptr(0)))
}
