package sqlite

import (
	"fmt"
	"time"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// mending is what the writer knows of tries to have a log on the disk again.
type mending struct {
	pause time.Duration // before the next one
	next  time.Time
	// left says that the dead left a log which nobody could write anew yet: a sync of it may have failed. Most likely none
	// did, so that nobody waits for it.
	left bool
}

// mendSlowly is the longest pause between two tries: each reads and writes all of the log.
const mendSlowly = 10 * time.Second

// holdReaders is how long the readers of this process are waited for when a log is to be mended. Those that come are held back
// until it is.
const holdReaders = time.Second

// tried notes how a try went, and when the next may be.
func (m *mending) tried(err error) {
	if err == nil {
		*m = mending{}
		return
	}
	m.pause = min(max(2*m.pause, lookAround), mendSlowly)
	m.next = time.Now().Add(m.pause)
}

// mend has a log on the disk again of which nobody knows what is there. Where that cannot be done yet nothing is committed.
func (w *writer) mend() error {
	if !w.c.Unsure() {
		return nil
	}
	if time.Now().Before(w.mending.next) {
		return w.unsure()
	}
	w.settle()
	letGo := w.s.readers.hold(holdReaders) // or somebody might always read
	err := w.c.MendLog()
	letGo()
	w.mending.tried(err)
	switch {
	case err == nil:
		w.astray.Store(false)
		return nil
	case code(err) == lite.Busy, w.c.Broken():
		return w.unsure()
	}
	return w.s.translate(err)
}

// mendIdly is mend when nobody waits: an error is the next update's, too.
func (w *writer) mendIdly() {
	switch {
	case w.c.Unsure():
		w.mend()
	case w.mending.left && !time.Now().Before(w.mending.next):
		w.mending.tried(w.c.RenewLog())
	}
}

// doubt has the log mended, before anything else is committed or copied, for an error that another connection of this process
// met: it may be of a sync of the log, and the next would not fail any more.
func (w *writer) doubt(err error) {
	if code(err) == lite.IOError {
		w.c.Doubt()
	}
}

// unsure is why nothing can be written until the log is mended, and nothing read if what it holds was in flight: others may
// have seen what the disk lost.
func (w *writer) unsure() error {
	if !w.c.Broken() {
		return fmt.Errorf("%w: what was last written to the log of %s may not be on the disk; check the disk and try again when nobody reads for a moment", store.ErrUnavailable, w.s.path)
	}
	return fmt.Errorf("%w: the disk lost what was written to the log of %s; check the disk, then start this program again", store.ErrUnavailable, w.s.path)
}
