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
