package lite

import (
	"encoding/binary"
	"errors"
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
// once more and synced.
//
// HAZARD: what the system could not write it takes for written once a sync has failed, and still has it in memory (Linux with
// ext4 or XFS). So the log reads as it should, every sync that follows succeeds, and the disk has a hole where, after the
// machine has stopped, the log ends. Nothing but writing them again has the system write those pages. To copy the log
// instead makes it worse: who opens the file after the machine has stopped lays what is before the hole over newer pages.
func (c *Conn) MendLog() error {
	if !c.Unsure() {
		return nil
	}
	// Nobody else adds to the log then, or begins it anew.
	if err := c.Exec(`BEGIN IMMEDIATE`); err != nil {
		c.log.broken.Store(unreadable(err))
		return err
	}
	defer c.Exec(`ROLLBACK`)
	rc := c.log.rewrite(&c.wal().Fhdr)
	if rc == sqlite3.SQLITE_OK {
		c.log.owed = false
		c.log.lost.Store(false)
		return nil
	}
	said := *(*int32)(pointer(libc.X__errno_location(c.tls)))
	return &Error{Code: int(rc), Message: gostring(sqlite3.Xsqlite3_errstr(c.tls, rc)), Cause: syscall.Errno(said)}
}

// unreadable reports whether the error is about what was read.
func unreadable(err error) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Primary() {
	case IOError, Corrupt, NotADB:
		return true
	}
	return false
}

// rewrite writes the log again, up to the end that the index knows. What is in the index is what everybody reads, so nothing
// else may be in the log.
func (b *logBuffer) rewrite(index *sqlite3.TWalIndexHdr) int32 {
	b.broken.Store(false)
	if index.FmxFrame == 0 {
		return sqlite3.SQLITE_OK // what was in it is in the file
	}
	size := frameHeader + int(index.FszPage&0xfe00) + int(index.FszPage&1)<<16
	memory := b.c.alloc(size)
	defer b.c.free(memory)
	again := func(n int, at int64, right func(piece []byte) bool) int32 {
		rc := call[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](b.original.FxRead)(b.c.tls, b.file, memory, int32(n), at)
		if rc == sqlite3.SQLITE_OK && !right(unsafe.Slice((*byte)(pointer(memory)), n)) {
			rc = sqlite3.SQLITE_IOERR_DATA
		}
		if rc != sqlite3.SQLITE_OK {
			b.broken.Store(true)
			return rc
		}
		return b.pass(b.c.tls, b.file, memory, int32(n), at)
	}
	var words binary.ByteOrder = binary.LittleEndian
	if index.FbigEndCksum != 0 {
		words = binary.BigEndian
	}
	salts := saltsOf(unsafe.Slice((*byte)(unsafe.Pointer(&index.FaSalt)), unsafe.Sizeof(index.FaSalt)))
	var sum logSum
	rc := again(logHeader, 0, func(header []byte) bool {
		sum = sum.add(words, header[:logHeader-8])
		return saltsOf(header[16:]) == salts && sum.is(header[logHeader-8:])
	})
	for i := int64(0); i < int64(index.FmxFrame) && rc == sqlite3.SQLITE_OK; i++ {
		rc = again(size, logHeader+i*int64(size), func(frame []byte) bool {
			sum = sum.add(words, frame[:summed]).add(words, frame[frameHeader:])
			// A commit that failed may have left others like them, but not with this sum at the end.
			last := i+1 == int64(index.FmxFrame)
			return saltsOf(frame[summed:]) == salts && sum.is(frame[summed+8:]) && (!last || sum == index.FaFrameCksum)
		})
	}
	if rc != sqlite3.SQLITE_OK {
		return rc
	}
	return b.syncFile(b.c.tls, b.file, sqlite3.SQLITE_SYNC_NORMAL)
}
