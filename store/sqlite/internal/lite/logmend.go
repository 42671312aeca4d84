package lite

import (
	"syscall"
	"time"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/sqlite/lib"
)

// MendLog has a log that is Unsure on the disk again; see RenewLog.
func (c *Conn) MendLog() error {
	if !c.Unsure() {
		return nil
	}
	return c.RenewLog()
}

// RenewLog has all that was committed to a buffered log, by whomever, on the disk: it is written to its places once more and
// synced. The error is Busy while others read or write; another one leaves the log Unsure.
//
// HAZARD: what the system could not write it takes for written once a sync has failed, and still has it in memory (Linux with
// ext4 or XFS). So the log reads as it should, every sync that follows succeeds, and the disk has a hole where, after the
// machine has stopped, the log ends. To copy the log instead makes it worse: who opens the file after the machine has stopped
// lays what is before the hole over newer pages.
//
// HAZARD: ext4 also takes for allocated what it could not write to, so that pages written there again, also those of a later
// commit, are not found after the machine has stopped, although they reached the disk (Linux 6.18). It looks again once they
// are gone from its memory. So everything is written twice: the first time shows that the disk takes it, the second time it
// takes it for good. Between forgetting a block and writing it the block is in this process's memory alone, so nobody may read
// then.
func (c *Conn) RenewLog() error {
	if c.log == nil {
		return nil
	}
	rc := c.holding(c.log.renew, writeLock, 2) // and what copies
	switch rc {
	case sqlite3.SQLITE_OK:
		c.health.unsure.Store(false)
		return nil
	case sqlite3.SQLITE_BUSY:
	default:
		c.health.unsure.Store(true)
	}
	e := &Error{Code: int(rc), Message: gostring(sqlite3.Xsqlite3_errstr(c.tls, rc))}
	if e.Primary() == IOError && !c.Broken() {
		e.Cause = syscall.Errno(*(*int32)(pointer(libc.X__errno_location(c.tls))))
	}
	return e
}

// The locks on the index of a log, as SQLite documents them: who writes, who copies, who recovers, and who reads.
const (
	writeLock = 0
	readLocks = 3
	readers   = 5
)

// patience is how long others are waited for who read, write or copy.
const patience = 100 * time.Millisecond

// holding runs f with locks on the index, so many from the first on.
func (c *Conn) holding(f func(index *sqlite3.TWalIndexHdr) int32, first, n int32) int32 {
	wal := c.wal()
	file := (*sqlite3.Tsqlite3_file)(pointer(wal.FpDbFd))
	lock := call[func(*libc.TLS, uintptr, int32, int32, int32) int32]((*sqlite3.Tsqlite3_io_methods)(pointer(file.FpMethods)).FxShmLock)
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		rc := lock(c.tls, wal.FpDbFd, first, n, sqlite3.SQLITE_SHM_LOCK|sqlite3.SQLITE_SHM_EXCLUSIVE)
		if rc == sqlite3.SQLITE_OK {
			break
		}
		if rc != sqlite3.SQLITE_BUSY || time.Now().After(deadline) {
			return rc
		}
	}
	defer lock(c.tls, wal.FpDbFd, first, n, sqlite3.SQLITE_SHM_UNLOCK|sqlite3.SQLITE_SHM_EXCLUSIVE)
	return f((*sqlite3.TWalIndexHdr)(pointer(*(*uintptr)(pointer(wal.FapWiData)))))
}

// mendBlock is how much is forgotten and written at once: the system forgets no piece of a file that is only partly in a
// block, and its pieces are no longer than this.
const mendBlock = 2 << 20

// renew writes the log again, up to the end that the index knows: what is in the index is what everybody reads.
func (b *logBuffer) renew(index *sqlite3.TWalIndexHdr) int32 {
	tls := b.c.tls
	if index.FmxFrame > 0 { // who reads for long would only be found after all was written once
		if rc := b.c.holding(func(*sqlite3.TWalIndexHdr) int32 { return sqlite3.SQLITE_OK }, readLocks, readers); rc != sqlite3.SQLITE_OK {
			return rc
		}
	}
	memory := sqlite3.Xsqlite3_malloc64(tls, uint64(b.block))
	if memory == 0 {
		return sqlite3.SQLITE_NOMEM
	}
	defer sqlite3.Xsqlite3_free(tls, memory)
	inPlace := func(at, n int64, check *logCheck) int32 {
		if rc := b.take(memory, at, n, check); rc != sqlite3.SQLITE_OK {
			return rc
		}
		return pieces(b.pass, tls, b.file, memory, n, at)
	}
	anew := func(at, n int64, check *logCheck) int32 {
		return b.c.holding(func(*sqlite3.TWalIndexHdr) int32 {
			if rc := b.take(memory, at, n, check); rc != sqlite3.SQLITE_OK {
				return rc
			}
			b.uncache(b.file, at, b.block)
			rc := pieces(b.pass, tls, b.file, memory, n, at)
			if rc != sqlite3.SQLITE_OK {
				b.c.health.broken.Store(true) // it took the same a moment ago
			}
			return rc
		}, readLocks, readers)
	}
	for _, write := range []func(at, n int64, check *logCheck) int32{inPlace, anew} {
		if rc := b.blocks(index, write); rc != sqlite3.SQLITE_OK {
			return rc
		}
		if rc := b.syncFile(tls, b.file, sqlite3.SQLITE_SYNC_NORMAL); rc != sqlite3.SQLITE_OK {
			return rc
		}
	}
	return sqlite3.SQLITE_OK
}

// blocks calls do for each block of what is in the log, and has what is behind it forgotten: a later commit is written there.
func (b *logBuffer) blocks(index *sqlite3.TWalIndexHdr, do func(at, n int64, check *logCheck) int32) int32 {
	check, at := newLogCheck(index), int64(0)
	for ; at < check.end; at += b.block {
		if rc := do(at, min(b.block, check.end-at), check); rc != sqlite3.SQLITE_OK {
			return rc
		}
	}
	if !check.whole() {
		return b.notFound()
	}
	b.c.health.broken.Store(false)
	b.uncache(b.file, at, 0)
	return sqlite3.SQLITE_OK
}

// take reads a block into memory.
func (b *logBuffer) take(memory uintptr, at, n int64, check *logCheck) int32 {
	read := call[ioFunction](b.original.FxRead)
	if pieces(read, b.c.tls, b.file, memory, n, at) != sqlite3.SQLITE_OK || !check.follow(unsafe.Slice((*byte)(pointer(memory)), n)) {
		return b.notFound()
	}
	return sqlite3.SQLITE_OK
}

// notFound notes that the log is not what it was.
func (b *logBuffer) notFound() int32 {
	b.c.health.broken.Store(true)
	return sqlite3.SQLITE_IOERR_DATA
}

// pieces reads or writes in pieces that SQLite's functions know to handle.
func pieces(do ioFunction, tls *libc.TLS, file, memory uintptr, n, at int64) int32 {
	for from := int64(0); from < n; from += logBlock {
		if rc := do(tls, file, memory+uintptr(from), int32(min(logBlock, n-from)), at+from); rc != sqlite3.SQLITE_OK {
			return rc
		}
	}
	return sqlite3.SQLITE_OK
}
