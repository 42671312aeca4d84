package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"
	"syscall"

	"github.com/turnstone-dev/turnstone/store"
)

// files are those that the store has open: the file, its log and the log's index, by their names. A process keeps what it has
// open when the name is removed or given to another file, and nobody would find again what it writes there.
type files struct {
	log, index string
	opened     map[string]fs.FileInfo
	removed    atomic.Pointer[string] // the first that was found to be gone
}

// remember notes which files the names lead to. It is called once, when all of them are open.
func (f *files) remember(path, log string) {
	f.log, f.index = log, log[:len(log)-len("wal")]+"shm"
	f.opened = make(map[string]fs.FileInfo)
	for _, name := range []string{path, f.log, f.index} {
		if info, err := os.Stat(name); err == nil {
			f.opened[name] = info
		}
	}
}

// check returns store.ErrRemoved when a name does not lead to its file any more, and ever after.
func (f *files) check() error {
	for name := range f.opened {
		if f.removed.Load() == nil && f.gone(name) {
			f.removed.CompareAndSwap(nil, &name)
		}
	}
	return f.checked()
}

// checked is check without looking again.
func (f *files) checked() error {
	if name := f.removed.Load(); name != nil {
		return fmt.Errorf("%w: %s; put it back or restore a backup, then start this program again", store.ErrRemoved, *name)
	}
	return nil
}

// gone reports whether a name leads to no file or to another. Where the system does not say, the file is taken for there.
func (f *files) gone(name string) bool {
	info, err := os.Stat(name)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
	}
	return !os.SameFile(f.opened[name], info)
}

// onlyLog reports whether the log has no name any more and all else is as it was.
func (f *files) onlyLog() bool {
	for name := range f.opened {
		if name != f.log && f.gone(name) {
			return false
		}
	}
	_, err := os.Stat(f.log)
	return errors.Is(err, fs.ErrNotExist)
}
