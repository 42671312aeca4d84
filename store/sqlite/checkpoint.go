package sqlite

import (
	"context"
	"sync/atomic"

	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// checkpointer copies the write-ahead log into the file, in the background and on a connection of its
// own: copying takes far longer than a commit, and inside one everybody would wait for it.
//
// Only a log that was copied to the end starts anew, and the background never gets there while others
// write. It copies again what came meanwhile, as long as that becomes less, and the writer copies the
// little that is left after a commit, when nobody waits for the next one or the log is too long. A log that starts anew often does not grow: its file is written
// over, which is synced sooner than one that becomes longer.
type checkpointer struct {
	s    *Store
	wake chan struct{}
	// written is how long the log is, copied how much of it was copied in the background; 0 if that is
	// of no use any more.
	written, copied atomic.Int64
	// What follows is the writer's, and in pages. asked is the length of the log when a copy was last asked for.
	asked              int
	copyAfter, tooLong int
}

const (
	// copyAfter is how many bytes the log grows before they are copied.
	copyAfter = 16 << 20
	// tooLong is from how many bytes on the background tries harder to catch up. At twice as many
	// the writer itself copies all that is left.
	tooLong = 64 << 20
	// leftOver is the part of copyAfter that the writer may copy: one in so many.
	leftOver = 16
)

func newCheckpointer(s *Store, page int) *checkpointer {
	return &checkpointer{s: s, wake: make(chan struct{}, 1), copyAfter: copyAfter / page, tooLong: tooLong / page}
}

// watch is called by the writer after each commit, and told whether others wait for it.
func (k *checkpointer) watch(c *lite.Conn, awaited bool) {
	frames := c.Frames()
	k.written.Store(int64(frames))
	if frames < k.asked {
		k.asked = 0
		k.copied.Store(0)
	}
	grown := frames-k.asked >= k.copyAfter
	switch {
	case k.nearlyCopied(frames, awaited), grown && frames > 2*k.tooLong:
		// HAZARD: of two syncs of one file at once the system tells only one that it failed.
		k.s.writer.settle()
		// Should it fail, or a reader stand in the way, the log stays long and is copied again later.
		c.Checkpoint(false)
		k.asked = frames
		k.copied.Store(0)
	case grown:
		k.asked = frames
		select {
		case k.wake <- struct{}{}:
		default:
		}
	}
}

// nearlyCopied reports whether so little of the log is left that the writer may copy it. With others waiting it goes on
// writing first: a copy is synced twice, and everybody would wait for that.
func (k *checkpointer) nearlyCopied(frames int, awaited bool) bool {
	copied := int(k.copied.Load())
	return copied > 0 && frames-copied <= k.copyAfter/leftOver && (!awaited || frames > k.tooLong)
}

// run copies whenever it is woken, until ctx ends.
func (k *checkpointer) run(ctx context.Context) {
	// HAZARD: of a sync that failed for another process the system tells those who had the file open by then. So it is opened
	// at once.
	c, _ := k.s.connect(lite.ReadWrite, k.s.writerPragmas())
	defer func() {
		if c != nil {
			c.Close() // the writer's connection outlives it
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
		k.catchUp(ctx, c)
	}
}

// catchUp copies the log, and again what came meanwhile as long as that is less than half as much each time,
// or of a log that is too long at least less. What could not be synced is the writer's to mend first.
func (k *checkpointer) catchUp(ctx context.Context, c *lite.Conn) {
	for pass := int64(k.copyAfter); ctx.Err() == nil && !k.s.writer.c.Unsure(); {
		_, copied, err := c.Checkpoint(false)
		if err != nil {
			// Where the disk failed the writer meets it too, once it knows.
			k.s.writer.doubt(err)
			return
		}
		k.copied.Store(int64(copied))
		written := k.written.Load()
		left, enough := written-int64(copied), pass/2
		if written > int64(k.tooLong) {
			enough = pass - 1
		}
		if left <= int64(k.copyAfter/leftOver) || left > enough {
			return
		}
		pass = left
	}
}
