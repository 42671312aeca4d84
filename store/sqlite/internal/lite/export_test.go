package lite

import (
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
