package lite

import (
	"syscall"

	"golang.org/x/sys/unix"
	"modernc.org/libc"
	"modernc.org/sqlite/lib"
)

// syncData syncs what is in the log, and of what the system knows about it only what is needed to find that again. SQLite as
// it is translated syncs the time of the last change as well, for which a file system writes its own journal every time.
//
// A file that was made is synced by SQLite's own function at first: that syncs its name, too.
func (b *logBuffer) syncData(tls *libc.TLS, file uintptr, flags int32) int32 {
	f := (*sqlite3.TunixFile)(pointer(file))
	if f.FctrlFlags&sqlite3.UNIXFILE_DIRSYNC != 0 {
		return b.syncWhole(tls, file, flags)
	}
	err := syscall.EINTR
	for err == syscall.EINTR {
		err, _ = syscall.Fdatasync(int(f.Fh)).(syscall.Errno)
	}
	if err != 0 {
		*(*int32)(pointer(libc.X__errno_location(tls))) = int32(err) // where SQLite looks for what the system said
		return sqlite3.SQLITE_IOERR_FSYNC
	}
	return sqlite3.SQLITE_OK
}

// uncache has the system forget what it has of a file in memory and need not write any more: n bytes from at on, or with 0 all
// that follow.
func uncache(file uintptr, at, n int64) {
	f := (*sqlite3.TunixFile)(pointer(file))
	unix.Fadvise(int(f.Fh), at, n, unix.FADV_DONTNEED)
}
