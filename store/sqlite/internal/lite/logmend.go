package lite

import (
	"syscall"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/sqlite/lib"
)

// Unsure reports whether nobody knows what of the log is on the disk. Nothing is committed or copied until MendLog.
func (c *Conn) Unsure() bool { return c.log != nil && c.log.lost.Load() }

// Broken reports whether commits that others may have seen are not in the log any more, or could not be read, when it was to
// be mended. Whoever opens the file anew finds those that are there.
func (c *Conn) Broken() bool { return c.log != nil && c.log.broken.Load() }

// Doubt makes a buffered log Unsure: somebody else may have seen a sync of it fail.
func (c *Conn) Doubt() {
	if c.log != nil {
		c.log.lost.Store(true)
	}
}

// MendLog has a log that is Unsure on the disk again: all that was committed to it, by whomever, is written to its places
// once more and synced. The error is Busy while others read or write.
//
// HAZARD: what the system could not write it takes for written once a sync has failed, and still has it in memory (Linux with
// ext4 or XFS). So the log reads as it should, every sync that follows succeeds, and the disk has a hole where, after the
// machine has stopped, the log ends. To copy the log instead makes it worse: who opens the file after the machine has stopped
// lays what is before the hole over newer pages.
//
// HAZARD: ext4 also takes for allocated what it could not write to, so that pages written there again, also those of a later
// commit, are not found after the machine has stopped, although they reached the disk (Linux 6.18). It looks again once they
// are gone from its memory. They are in this process's alone then, so nobody may read.
func (c *Conn) MendLog() error {
	if !c.Unsure() {
		return nil
	}
	rc := c.aloneWithLog(c.log.rewrite)
	if rc == sqlite3.SQLITE_OK {
		c.log.lost.Store(false)
		return nil
	}
	e := &Error{Code: int(rc), Message: gostring(sqlite3.Xsqlite3_errstr(c.tls, rc))}
	if e.Primary() == IOError {
		e.Cause = syscall.Errno(*(*int32)(pointer(libc.X__errno_location(c.tls))))
	}
	return e
}

// The locks on the index of a log, as SQLite documents them.
const (
	writeLock = 0
	readLocks = 3
	readers   = 5
)

// aloneWithLog runs f while nobody writes to the log, reads from it or copies it.
func (c *Conn) aloneWithLog(f func(index *sqlite3.TWalIndexHdr) int32) int32 {
	wal := c.wal()
	file := (*sqlite3.Tsqlite3_file)(pointer(wal.FpDbFd))
	lock := call[func(*libc.TLS, uintptr, int32, int32, int32) int32]((*sqlite3.Tsqlite3_io_methods)(pointer(file.FpMethods)).FxShmLock)
	for _, l := range []struct{ first, n int32 }{{writeLock, 1}, {readLocks, readers}} {
		if rc := lock(c.tls, wal.FpDbFd, l.first, l.n, sqlite3.SQLITE_SHM_LOCK|sqlite3.SQLITE_SHM_EXCLUSIVE); rc != sqlite3.SQLITE_OK {
			return rc
		}
		defer lock(c.tls, wal.FpDbFd, l.first, l.n, sqlite3.SQLITE_SHM_UNLOCK|sqlite3.SQLITE_SHM_EXCLUSIVE)
	}
	return f((*sqlite3.TWalIndexHdr)(pointer(*(*uintptr)(pointer(wal.FapWiData)))))
}

// rewrite writes the log again, up to the end that the index knows: what is in the index is what everybody reads.
func (b *logBuffer) rewrite(index *sqlite3.TWalIndexHdr) int32 {
	tls := b.c.tls
	b.broken.Store(false)
	b.syncFile(tls, b.file, sqlite3.SQLITE_SYNC_NORMAL) // so that all of it may go from memory
	size := frameHeader + int64(index.FszPage&0xfe00) + int64(index.FszPage&1)<<16
	end := logHeader + int64(index.FmxFrame)*size
	memory := sqlite3.Xsqlite3_malloc64(tls, uint64(end))
	if memory == 0 {
		return sqlite3.SQLITE_NOMEM
	}
	defer sqlite3.Xsqlite3_free(tls, memory)
	read := call[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](b.original.FxRead)
	each := func(do func(*libc.TLS, uintptr, uintptr, int32, int64) int32) int32 {
		if index.FmxFrame == 0 {
			return sqlite3.SQLITE_OK // what was in it is in the file
		}
		rc := do(tls, b.file, memory, logHeader, 0)
		for at := int64(logHeader); at < end && rc == sqlite3.SQLITE_OK; at += size {
			rc = do(tls, b.file, memory+uintptr(at), int32(size), at)
		}
		return rc
	}
	if rc := each(read); rc != sqlite3.SQLITE_OK {
		b.broken.Store(true)
		return rc
	}
	if index.FmxFrame > 0 && !intact(index, unsafe.Slice((*byte)(pointer(memory)), end), size) {
		b.broken.Store(true)
		return sqlite3.SQLITE_IOERR_DATA
	}
	b.uncache(b.file)
	if rc := each(b.pass); rc != sqlite3.SQLITE_OK {
		return rc
	}
	return b.syncFile(tls, b.file, sqlite3.SQLITE_SYNC_NORMAL)
}
