package lite

import (
	"sync/atomic"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/sqlite/lib"
)

// fileSync is how the file itself is synced, which is at the end of a copy of the log.
type fileSync struct {
	methods  uintptr
	original syncFunction
	onSync   syncFunction // kept here because SQLite knows it by its address only
	uncache  func(file uintptr, at, n int64)
}

// watchFile has a sync of the file that fails undo what SQLite noted of the log as copied.
//
// HAZARD: the pages that a copy wrote before, which ended at a reader and was not synced, are as lost with that sync as those
// of the last one. SQLite copies these again and not those, and begins the log anew. See RenewLog for what else there is to it.
func (c *Conn) watchFile() {
	file := c.opened(sqlite3.SQLITE_FCNTL_FILE_POINTER)
	if file == nil {
		return
	}
	original := *(*sqlite3.Tsqlite3_io_methods)(pointer(file.FpMethods))
	c.file.original = call[syncFunction](original.FxSync)
	c.file.onSync, c.file.uncache = c.onFileSync, uncache
	c.file.methods = c.alloc(int(unsafe.Sizeof(original)))
	methods := (*sqlite3.Tsqlite3_io_methods)(pointer(c.file.methods))
	*methods = original
	methods.FxSync = function(c.file.onSync)
	file.FpMethods = c.file.methods
}

// opened is a file that SQLite has open, nil if it has not.
func (c *Conn) opened(which int32) *sqlite3.Tsqlite3_file {
	main, out := c.cstring("main"), c.alloc(int(unsafe.Sizeof(uintptr(0))))
	defer c.free(main)
	defer c.free(out)
	if sqlite3.Xsqlite3_file_control(c.tls, c.db, main, which, out) != sqlite3.SQLITE_OK {
		return nil
	}
	file := (*sqlite3.Tsqlite3_file)(pointer(*(*uintptr)(pointer(out))))
	if file == nil || file.FpMethods == 0 {
		return nil
	}
	return file
}

func (c *Conn) onFileSync(tls *libc.TLS, file uintptr, flags int32) int32 {
	rc := c.file.original(tls, file, flags)
	if rc != sqlite3.SQLITE_OK {
		if wal := c.wal(); wal != nil && wal.FckptLock != 0 {
			c.health.doubtFile(wal.Fhdr.FaSalt)
			copyAgain(wal)
		}
	}
	return rc
}

// copyAgain notes that nothing of the log was copied, for all processes. Only who has the lock for copying may do that. Who
// reads already goes on as he began: what he reads from the file is in the system's memory.
func copyAgain(wal *sqlite3.TWal) {
	index := *(*uintptr)(pointer(wal.FapWiData))
	info := (*sqlite3.TWalCkptInfo)(pointer(index + 2*unsafe.Sizeof(wal.Fhdr)))
	atomic.StoreUint32(&info.FnBackfill, 0)
}

// mendFile makes the file ready for another copy after a sync of it failed. Whoever reads pages that were copied reads them
// from the log since then, unless he began before.
func (c *Conn) mendFile() int32 {
	log, doubted := c.health.fileDoubted()
	if !doubted {
		return sqlite3.SQLITE_OK
	}
	return c.holding(func(*sqlite3.TWalIndexHdr) int32 {
		return c.holding(func(index *sqlite3.TWalIndexHdr) int32 {
			wal := c.wal()
			if index.FaSalt == log { // otherwise another process copied it, and it is not there to be copied again
				copyAgain(wal)
				c.file.original(c.tls, wal.FpDbFd, sqlite3.SQLITE_SYNC_NORMAL) // so that all of it may go from memory
				c.file.uncache(wal.FpDbFd, 0, 0)
			}
			c.health.trustFile()
			return sqlite3.SQLITE_OK
		}, readLocks, readers)
	}, writeLock, 2) // and what copies
}
