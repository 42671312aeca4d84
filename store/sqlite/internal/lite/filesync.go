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
	original func(*libc.TLS, uintptr, int32) int32
	sync     func(*libc.TLS, uintptr, int32) int32 // kept here because SQLite knows it by its address only
}

// watchFile has a sync of the file that fails undo what SQLite noted of the log as copied.
//
// HAZARD: the pages that a copy wrote before, which ended at a reader and was not synced, are as lost with that sync as those
// of the last one. SQLite copies these again and not those, and begins the log anew.
func (c *Conn) watchFile() {
	main, out := c.cstring("main"), c.alloc(int(unsafe.Sizeof(uintptr(0))))
	defer c.free(main)
	defer c.free(out)
	if sqlite3.Xsqlite3_file_control(c.tls, c.db, main, sqlite3.SQLITE_FCNTL_FILE_POINTER, out) != sqlite3.SQLITE_OK {
		return
	}
	file := (*sqlite3.Tsqlite3_file)(pointer(*(*uintptr)(pointer(out))))
	if file == nil || file.FpMethods == 0 {
		return
	}
	original := *(*sqlite3.Tsqlite3_io_methods)(pointer(file.FpMethods))
	c.file.original = call[func(*libc.TLS, uintptr, int32) int32](original.FxSync)
	c.file.sync = c.onFileSync
	c.file.methods = c.alloc(int(unsafe.Sizeof(original)))
	methods := (*sqlite3.Tsqlite3_io_methods)(pointer(c.file.methods))
	*methods = original
	methods.FxSync = function(c.file.sync)
	file.FpMethods = c.file.methods
}

func (c *Conn) onFileSync(tls *libc.TLS, file uintptr, flags int32) int32 {
	rc := c.file.original(tls, file, flags)
	if rc != sqlite3.SQLITE_OK {
		c.copyAgain()
	}
	return rc
}

// copyAgain notes that nothing of the log was copied, for all processes. Only who copies may change that, and it does not
// matter to who reads: what the file has already is the same.
func (c *Conn) copyAgain() {
	wal := c.wal()
	if wal == nil || wal.FckptLock == 0 {
		return // it is not the log that is copied
	}
	index := *(*uintptr)(pointer(wal.FapWiData))
	info := (*sqlite3.TWalCkptInfo)(pointer(index + 2*unsafe.Sizeof(wal.Fhdr)))
	atomic.StoreUint32(&info.FnBackfill, 0)
}
