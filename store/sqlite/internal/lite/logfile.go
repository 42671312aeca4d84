package lite

import (
	"fmt"
	"sync"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/sqlite/lib"
)

// SQLite writes each page of a commit to the write-ahead log by two small writes, one for the frame's
// header and one for the page. On a common file system these cost several times as much as the
// same bytes in one piece, and on a busy machine more than the fsync after them. So the writer's
// connection opens its log through a file system of this package's, which is SQLite's own except
// that it collects what is written to the log until the log is synced.
//
// HAZARD: that is safe only because
//   - others look at pages of the log only after the commit, which SQLite makes known, in the shared
//     index, after the sync. With synchronous=NORMAL it does not sync, and nothing may be collected.
//   - what was collected by a transaction that is rolled back is dropped before somebody else may
//     write to the same place of the log: see [Conn.DropLog].

// logFile is what was collected for one open log.
type logFile struct {
	base    *sqlite3.Tsqlite3_io_methods // SQLite's own
	methods uintptr                      // a copy with ours in it
	collect bool
	buffer  uintptr
	start   int64 // where in the file the buffer begins
	used    int
}

// logBuffer is how much is collected before it is written. A transaction that is larger is written in
// several pieces.
const logBuffer = 1 << 20

// logPiece is how much is handed on at once: SQLite's own write cuts off the bits of a size above 128 KiB
// and takes what is missing for a full disk.
const logPiece = 124 << 10

var (
	logFiles  sync.Map // of *logFile, by the address of SQLite's file
	systemVFS uintptr
)

// logVFS registers the file system once and returns its name, as C text.
var logVFS = sync.OnceValue(func() uintptr {
	c := &Conn{tls: libc.NewTLS()} // for its memory only; this and the file system are never given back
	systemVFS = sqlite3.Xsqlite3_vfs_find(c.tls, 0)
	vfs := (*sqlite3.Tsqlite3_vfs)(pointer(c.alloc(int(unsafe.Sizeof(sqlite3.Tsqlite3_vfs{})))))
	*vfs = *(*sqlite3.Tsqlite3_vfs)(pointer(systemVFS))
	vfs.FpNext = 0
	vfs.FzName = c.cstring("turnstone")
	vfs.FxOpen = function(openFile)
	sqlite3.Xsqlite3_vfs_register(c.tls, uintptr(unsafe.Pointer(vfs)), 0)
	return vfs.FzName
})

// method makes a function of the translated C code callable.
func method[F any](address uintptr) F { return *(*F)(unsafe.Pointer(&address)) }

type (
	openFunc     = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32
	transferFunc = func(tls *libc.TLS, file, data uintptr, n int32, at int64) int32
	closeFunc    = func(tls *libc.TLS, file uintptr) int32
	truncateFunc = func(tls *libc.TLS, file uintptr, size int64) int32
	sizeFunc     = func(tls *libc.TLS, file, size uintptr) int32
	syncFunc     = func(tls *libc.TLS, file uintptr, flags int32) int32
)

func openFile(tls *libc.TLS, _, name, file uintptr, flags int32, out uintptr) int32 {
	rc := method[openFunc]((*sqlite3.Tsqlite3_vfs)(pointer(systemVFS)).FxOpen)(tls, systemVFS, name, file, flags, out)
	if rc != sqlite3.SQLITE_OK || flags&sqlite3.SQLITE_OPEN_WAL == 0 {
		return rc
	}
	opened := (*sqlite3.Tsqlite3_file)(pointer(file))
	l := &logFile{base: (*sqlite3.Tsqlite3_io_methods)(pointer(opened.FpMethods))}
	l.methods = sqlite3.Xsqlite3_malloc64(tls, uint64(unsafe.Sizeof(*l.base)))
	l.buffer = sqlite3.Xsqlite3_malloc64(tls, logBuffer)
	if l.methods == 0 || l.buffer == 0 {
		sqlite3.Xsqlite3_free(tls, l.methods)
		sqlite3.Xsqlite3_free(tls, l.buffer)
		return rc // without memory it stays as it is
	}
	methods := (*sqlite3.Tsqlite3_io_methods)(pointer(l.methods))
	*methods = *l.base
	methods.FxClose = function(closeLog)
	methods.FxRead = function(readLog)
	methods.FxWrite = function(writeLog)
	methods.FxTruncate = function(truncateLog)
	methods.FxSync = function(syncLog)
	methods.FxFileSize = function(sizeLog)
	logFiles.Store(file, l)
	opened.FpMethods = l.methods
	return rc
}

func logOf(file uintptr) *logFile {
	l, _ := logFiles.Load(file)
	return l.(*logFile)
}

// flush writes what was collected. What cannot be written is dropped: SQLite is told, and rolls back.
func (l *logFile) flush(tls *libc.TLS, file uintptr) int32 {
	if l.used == 0 {
		return sqlite3.SQLITE_OK
	}
	n := l.used
	l.used = 0
	for done := 0; done < n; done += logPiece {
		size := min(n-done, logPiece)
		rc := method[transferFunc](l.base.FxWrite)(tls, file, l.buffer+uintptr(done), int32(size), l.start+int64(done))
		if rc != sqlite3.SQLITE_OK {
			return rc
		}
	}
	return sqlite3.SQLITE_OK
}

func writeLog(tls *libc.TLS, file, data uintptr, n int32, at int64) int32 {
	l := logOf(file)
	if !l.collect {
		if rc := l.flush(tls, file); rc != sqlite3.SQLITE_OK {
			return rc
		}
		return method[transferFunc](l.base.FxWrite)(tls, file, data, n, at)
	}
	if at != l.start+int64(l.used) || l.used+int(n) > logBuffer {
		if rc := l.flush(tls, file); rc != sqlite3.SQLITE_OK {
			return rc
		}
	}
	if l.used == 0 {
		l.start = at
	}
	copy(unsafe.Slice((*byte)(pointer(l.buffer+uintptr(l.used))), n), unsafe.Slice((*byte)(pointer(data)), n))
	l.used += int(n)
	return sqlite3.SQLITE_OK
}

func syncLog(tls *libc.TLS, file uintptr, flags int32) int32 {
	l := logOf(file)
	if rc := l.flush(tls, file); rc != sqlite3.SQLITE_OK {
		return rc
	}
	return method[syncFunc](l.base.FxSync)(tls, file, flags)
}

func readLog(tls *libc.TLS, file, data uintptr, n int32, at int64) int32 {
	l := logOf(file)
	if rc := l.flush(tls, file); rc != sqlite3.SQLITE_OK {
		return rc
	}
	return method[transferFunc](l.base.FxRead)(tls, file, data, n, at)
}

func truncateLog(tls *libc.TLS, file uintptr, size int64) int32 {
	l := logOf(file)
	if rc := l.flush(tls, file); rc != sqlite3.SQLITE_OK {
		return rc
	}
	return method[truncateFunc](l.base.FxTruncate)(tls, file, size)
}

func sizeLog(tls *libc.TLS, file, size uintptr) int32 {
	l := logOf(file)
	if rc := l.flush(tls, file); rc != sqlite3.SQLITE_OK {
		return rc
	}
	return method[sizeFunc](l.base.FxFileSize)(tls, file, size)
}

// closeLog drops what was not synced: nobody was told that it is there.
func closeLog(tls *libc.TLS, file uintptr) int32 {
	l := logOf(file)
	logFiles.Delete(file)
	(*sqlite3.Tsqlite3_file)(pointer(file)).FpMethods = uintptr(unsafe.Pointer(l.base))
	sqlite3.Xsqlite3_free(tls, l.methods)
	sqlite3.Xsqlite3_free(tls, l.buffer)
	return method[closeFunc](l.base.FxClose)(tls, file)
}

// CollectLog makes commits write to the log in one piece. It is for connections opened with [Writer]
// in WAL mode with synchronous=FULL, after their first transaction. A file system that does not
// promise to leave the bytes around a write alone is left as it is: SQLite writes after the sync there.
func (c *Conn) CollectLog() error {
	out := c.alloc(int(unsafe.Sizeof(uintptr(0))))
	defer c.free(out)
	rc := sqlite3.Xsqlite3_file_control(c.tls, c.db, 0, sqlite3.SQLITE_FCNTL_JOURNAL_POINTER, out)
	if rc != sqlite3.SQLITE_OK {
		return c.error(rc)
	}
	file := *(*uintptr)(pointer(out))
	l, ok := logFiles.Load(file)
	if !ok {
		return fmt.Errorf("sqlite: the log is not open")
	}
	c.log = l.(*logFile)
	traits := method[closeFunc](c.log.base.FxDeviceCharacteristics)(c.tls, file)
	c.log.collect = traits&sqlite3.SQLITE_IOCAP_POWERSAFE_OVERWRITE != 0
	return nil
}

// DropLog forgets what a transaction that was rolled back would have written to the log. It must be
// called after every rollback.
func (c *Conn) DropLog() {
	if c.log != nil {
		c.log.used = 0
	}
}
