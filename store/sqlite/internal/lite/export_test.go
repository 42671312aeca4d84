package lite

import (
	"modernc.org/libc"
	"modernc.org/sqlite/lib"
)

var failing = func(*libc.TLS, uintptr, int32) int32 { return sqlite3.SQLITE_IOERR_FSYNC }

// FailSyncs has the syncs of the buffered log fail until it is mended.
func (c *Conn) FailSyncs() (mend func()) {
	sync := c.log.original.FxSync
	c.log.original.FxSync = function(failing)
	return func() { c.log.original.FxSync = sync }
}
