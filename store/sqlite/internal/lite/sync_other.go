//go:build !linux

package lite

import "modernc.org/libc"

// syncData syncs the log as SQLite does.
func (b *logBuffer) syncData(tls *libc.TLS, file uintptr, flags int32) int32 {
	return b.syncWhole(tls, file, flags)
}

// uncache does nothing: only Linux is known to need it.
func uncache(uintptr, int64, int64) {}
