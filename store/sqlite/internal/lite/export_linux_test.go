package lite

import (
	"modernc.org/libc"
	"modernc.org/sqlite/lib"
)

// RefuseSyncs has the system refuse to sync the buffered log until it is mended: there is no such file then.
func (c *Conn) RefuseSyncs() (mend func()) {
	sync := c.log.toDisk
	c.log.toDisk = func(tls *libc.TLS, file uintptr, flags int32) int32 {
		f := (*sqlite3.TunixFile)(pointer(file))
		h := f.Fh
		f.Fh = -1
		defer func() { f.Fh = h }()
		return c.log.syncData(tls, file, flags)
	}
	return func() { c.log.toDisk = sync }
}
