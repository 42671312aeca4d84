package sqlite

import (
	"context"

	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// checkpointer copies the write-ahead log into the file, in the background and on a connection of its
// own: copying takes far longer than a commit, and inside one everybody would wait for it.
type checkpointer struct {
	s    *Store
	wake chan struct{}
	// What follows is the writer's. asked is the length of the log when a copy was last asked for.
	asked              int
	copyAfter, tooLong int
}

const (
	pageSize = 4096
	// copyAfter is how many pages the log grows before they are copied: 16 MiB.
	copyAfter = 16 << 20 / pageSize
	// tooLong is how many pages the log may have before the writer itself sees to it: 64 MiB. The
	// background copy of a log that is being written to never reaches its end, and only a log
	// that was copied to the end starts anew.
	tooLong = 64 << 20 / pageSize
)

func newCheckpointer(s *Store) *checkpointer {
	return &checkpointer{s: s, wake: make(chan struct{}, 1), copyAfter: copyAfter, tooLong: tooLong}
}

// watch is called by the writer after each commit.
func (k *checkpointer) watch(c *lite.Conn) {
	frames := c.Frames()
	if frames < k.asked {
		k.asked = 0
	}
	if frames-k.asked < k.copyAfter {
		return
	}
	k.asked = frames
	if frames > k.tooLong {
		// Should it fail, the log stays long and the next commit tries again.
		c.Checkpoint(false)
		return
	}
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// run copies whenever it is woken, until ctx ends.
func (k *checkpointer) run(ctx context.Context) {
	var c *lite.Conn
	defer func() {
		if c != nil {
			c.Close()
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.wake:
		}
		if c == nil {
			var err error
			if c, err = k.s.connect(lite.ReadWrite, k.s.writerPragmas()); err != nil {
				continue
			}
		}
		// An error is not lost: it is the disk's, and the writer meets it too.
		c.Checkpoint(false)
	}
}
