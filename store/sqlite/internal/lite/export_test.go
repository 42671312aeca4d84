package lite

import (
	"unsafe"

	"modernc.org/libc"
	"modernc.org/sqlite/lib"
)

var failing = func(*libc.TLS, uintptr, int32) int32 { return sqlite3.SQLITE_IOERR_FSYNC }

// FailSyncs has the syncs of the buffered log fail until it is mended.
func (c *Conn) FailSyncs() (mend func()) {
	sync := c.log.toDisk
	c.log.toDisk = failing
	return func() { c.log.toDisk = sync }
}

// hooks are kept here because SQLite knows them by their addresses only.
var hooks []any

// CountWholeSyncs counts how often the buffered log is synced by SQLite's own function.
func (c *Conn) CountWholeSyncs() *int {
	n, sync := new(int), call[func(*libc.TLS, uintptr, int32) int32](c.log.original.FxSync)
	hook := func(tls *libc.TLS, file uintptr, flags int32) int32 {
		*n++
		return sync(tls, file, flags)
	}
	hooks = append(hooks, hook)
	c.log.original.FxSync = function(hook)
	return n
}

// BeforeSync has f called before each sync of the buffered log.
func (c *Conn) BeforeSync(f func()) {
	sync := c.log.toDisk
	c.log.toDisk = func(tls *libc.TLS, file uintptr, flags int32) int32 {
		f()
		return sync(tls, file, flags)
	}
}

// FullAt has the disk take no byte of the log from there on, in the middle of a write as well, until it is mended.
func (c *Conn) FullAt(limit int64) (mend func()) {
	was := c.log.original.FxWrite
	write := call[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](was)
	hook := func(tls *libc.TLS, file, data uintptr, n int32, at int64) int32 {
		if at+int64(n) <= limit {
			return write(tls, file, data, n, at)
		}
		if part := int32(limit - at); part > 0 {
			if rc := write(tls, file, data, part, at); rc != sqlite3.SQLITE_OK {
				return rc
			}
		}
		return sqlite3.SQLITE_FULL
	}
	hooks = append(hooks, hook)
	c.log.original.FxWrite = function(hook)
	return func() { c.log.original.FxWrite = was }
}

// HideLength has nobody find out how long the log's file is.
func (c *Conn) HideLength() {
	hook := func(*libc.TLS, uintptr, uintptr) int32 { return sqlite3.SQLITE_IOERR_FSTAT }
	hooks = append(hooks, hook)
	c.log.original.FxFileSize = function(hook)
}

// Disk is told what a connection does to its file and to its log.
type Disk interface {
	Write(log bool, at int64, data []byte)
	Truncate(log bool, size int64)
	Sync(log bool) bool            // reports whether it succeeds
	Uncache(log bool, at, n int64) // n of 0 is to the end
}

// Use has the connection work on a model of a disk. What is read comes from the files, as from the system's memory.
func (c *Conn) Use(d Disk) {
	wal := c.wal()
	use := func(at uintptr, log bool) {
		file := (*sqlite3.Tsqlite3_file)(pointer(at))
		methods := new(sqlite3.Tsqlite3_io_methods)
		*methods = *(*sqlite3.Tsqlite3_io_methods)(pointer(file.FpMethods))
		if log && c.log != nil {
			methods = &c.log.original
		}
		write := call[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](methods.FxWrite)
		truncate := call[func(*libc.TLS, uintptr, int64) int32](methods.FxTruncate)
		onWrite := func(tls *libc.TLS, file, data uintptr, n int32, at int64) int32 {
			d.Write(log, at, unsafe.Slice((*byte)(pointer(data)), n))
			return write(tls, file, data, n, at)
		}
		onTruncate := func(tls *libc.TLS, file uintptr, size int64) int32 {
			d.Truncate(log, size)
			return truncate(tls, file, size)
		}
		onSync := func(*libc.TLS, uintptr, int32) int32 {
			if d.Sync(log) {
				return sqlite3.SQLITE_OK
			}
			return sqlite3.SQLITE_IOERR_FSYNC
		}
		hooks = append(hooks, methods, onWrite, onTruncate, onSync)
		methods.FxWrite, methods.FxTruncate = function(onWrite), function(onTruncate)
		switch {
		case !log:
			c.file.original = onSync
			c.file.uncache = func(_ uintptr, at, n int64) { d.Uncache(false, at, n) }
		case c.log != nil:
			c.log.toDisk = onSync
			c.log.uncache = func(_ uintptr, at, n int64) { d.Uncache(true, at, n) }
			return
		default:
			methods.FxSync = function(onSync)
		}
		file.FpMethods = uintptr(unsafe.Pointer(methods))
	}
	use(wal.FpDbFd, false)
	use(wal.FpWalFd, true)
}

// MendIn has the log written anew in blocks of so many bytes.
func (c *Conn) MendIn(block int64) { c.log.block = block }
