package lite

import (
	"net/url"
	"path/filepath"
	"strings"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/sqlite/lib"
)

// pointer turns an address of SQLite's memory, which is outside of Go's heap and so none of the
// garbage collector's business, into a pointer.
func pointer(address uintptr) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&address))
}

// function makes a Go function callable from the translated C code, where a function pointer is
// what a Go func value points at.
func function[F any](f F) uintptr {
	return *(*uintptr)(unsafe.Pointer(&f))
}

// alloc returns memory that free gives back. Without memory nothing can go on, as in Go.
func (c *Conn) alloc(size int) uintptr {
	p := sqlite3.Xsqlite3_malloc64(c.tls, uint64(size))
	if p == 0 {
		panic("sqlite: out of memory")
	}
	return p
}

func (c *Conn) free(p uintptr) { sqlite3.Xsqlite3_free(c.tls, p) }

// Shrink gives back the pages of the file that are kept in memory and not in use, and returns how many bytes they had.
func (c *Conn) Shrink() int {
	before := c.cached()
	sqlite3.Xsqlite3_db_release_memory(c.tls, c.db)
	return before - c.cached()
}

// cached is how many bytes of memory the pages of the file have.
func (c *Conn) cached() int {
	const size = int(unsafe.Sizeof(int32(0)))
	out := c.alloc(2 * size)
	defer c.free(out)
	if rc := sqlite3.Xsqlite3_db_status(c.tls, c.db, sqlite3.SQLITE_DBSTATUS_CACHE_USED, out, out+uintptr(size), 0); rc != sqlite3.SQLITE_OK {
		return 0
	}
	return int(*(*int32)(pointer(out)))
}

func (c *Conn) cstring(s string) uintptr {
	p := c.alloc(len(s) + 1)
	text := unsafe.Slice((*byte)(pointer(p)), len(s)+1)
	copy(text, s)
	text[len(s)] = 0
	return p
}

func gostring(p uintptr) string { return libc.GoString(p) }

// immutableURI names a file so that SQLite neither locks it nor looks for a log beside it.
func immutableURI(path string) string {
	slashed := filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" && !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed
	}
	return "file:" + (&url.URL{Path: slashed}).EscapedPath() + "?immutable=1"
}

// arena holds the texts and bytes bound to one statement until it is bound anew. SQLite is told that
// they stay where they are, so that it makes no copy of its own. Go's own memory cannot be lent to
// it: what lies on a stack moves when the stack grows, and the translated code grows it.
type arena struct {
	chunk  uintptr
	size   int
	used   int
	filled []uintptr // chunks that were too small
}

// keep is how large a chunk may be to be used again.
const keep = 64 << 10

// room returns where n bytes go.
func (a *arena) room(c *Conn, n int) uintptr {
	// Even an empty text needs an address: none means null.
	if a.chunk == 0 || a.used+n > a.size {
		if a.chunk != 0 {
			a.filled = append(a.filled, a.chunk)
		}
		a.size, a.used = max(512, 2*a.size, n), 0
		a.chunk = c.alloc(a.size)
	}
	p := a.chunk + uintptr(a.used)
	a.used += n
	return p
}

func (a *arena) copy(c *Conn, s string) uintptr {
	p := a.room(c, len(s))
	copy(unsafe.Slice((*byte)(pointer(p)), len(s)), s)
	return p
}

// reset makes room again.
func (a *arena) reset(c *Conn) {
	for _, p := range a.filled {
		c.free(p)
	}
	a.filled, a.used = a.filled[:0], 0
	if a.size > keep {
		c.free(a.chunk)
		a.chunk, a.size = 0, 0
	}
}

func (a *arena) release(c *Conn) {
	a.reset(c)
	c.free(a.chunk)
	a.chunk, a.size = 0, 0
}
