package sqlite

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
	"time"
)

// indexer fills the full-text index in the background: never inside an append, and in small pieces
// that nobody waits long for. While others write it takes a tenth of the time at most.
type indexer struct {
	s    *Store
	wake chan struct{}

	// mu guards what follows.
	mu     sync.Mutex
	behind map[textSegment]struct{} // segments that were appended to
	look   bool                     // any other segment may be behind, too
	since  time.Time                // of the oldest append that is not indexed
	last   time.Time                // of the newest append
}

const (
	// quiet is how long nobody must have appended for the index to be filled at once.
	quiet = 50 * time.Millisecond
	// patience is how long the index waits for a quiet moment, and after an error.
	patience = time.Second
	// share is the part of the time that indexing may take while others write: one in so many.
	share = 10
	// At the end a small rest is indexed, so that programs that run for a moment do not leave an ever
	// longer one behind.
	lastPieces = 8
	lastTime   = 100 * time.Millisecond
)

func newIndexer(s *Store) *indexer {
	return &indexer{s: s, wake: make(chan struct{}, 1), behind: make(map[textSegment]struct{})}
}

// note is told by the writer which segments were appended to.
func (x *indexer) note(appended []textSegment) {
	if len(appended) == 0 {
		return
	}
	x.mu.Lock()
	x.last = time.Now()
	if len(x.behind) == 0 {
		x.since = x.last
	}
	for _, s := range appended {
		x.behind[s] = struct{}{}
	}
	x.mu.Unlock()
	x.rouse()
}

// lookAtAll makes the indexer look for segments that are behind.
func (x *indexer) lookAtAll() {
	x.mu.Lock()
	x.look = true
	x.mu.Unlock()
	x.rouse()
}

func (x *indexer) rouse() {
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

// run indexes until ctx ends, and then a small rest.
func (x *indexer) run(ctx context.Context) {
	var work []target
	defer func() { x.finish(context.WithoutCancel(ctx), work) }()
	for {
		select {
		case <-ctx.Done():
			return
		case <-x.wake:
		}
		for more := true; more; {
			for due := x.untilDue(); due > 0; due = x.untilDue() {
				if !wait(ctx, due) {
					return
				}
			}
			started := time.Now()
			var err error
			work, err = x.next(ctx, work)
			pause := time.Duration(0)
			switch {
			case err != nil:
				// Those who write are told what is wrong. Searches read what is not indexed.
				pause = patience
			case x.busy():
				pause = (share - 1) * time.Since(started)
			}
			if !wait(ctx, pause) {
				return
			}
			more = err != nil || len(work) > 0
		}
	}
}

// wait returns true after d, or false as soon as ctx ends.
func wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// untilDue is how long to wait before the next piece is indexed.
func (x *indexer) untilDue() time.Duration {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.behind) == 0 {
		return 0
	}
	now := time.Now()
	return min(quiet-now.Sub(x.last), patience-now.Sub(x.since))
}

// busy reports whether somebody appended a moment ago.
func (x *indexer) busy() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return time.Since(x.last) < quiet
}

// next indexes a piece of the work, or of new work where there is none left, and returns the rest.
func (x *indexer) next(ctx context.Context, work []target) ([]target, error) {
	if len(work) == 0 {
		var err error
		if work, err = x.take(ctx); err != nil {
			return nil, err
		}
	}
	return x.s.indexPiece(ctx, work)
}

// take returns what was appended to since it was last asked.
func (x *indexer) take(ctx context.Context) ([]target, error) {
	x.mu.Lock()
	work := make([]target, 0, len(x.behind))
	for s := range x.behind {
		work = append(work, target{textSegment: s, through: math.MaxInt64})
	}
	clear(x.behind)
	look := x.look
	x.look = false
	x.mu.Unlock()
	if look {
		rest, err := x.s.textBehind(ctx)
		if err != nil {
			x.lookAtAll()
			return work, err
		}
		work = append(work, rest...)
	}
	slices.SortFunc(work, func(a, b target) int {
		return cmp.Or(cmp.Compare(a.segment, b.segment), cmp.Compare(b.through, a.through))
	})
	return slices.CompactFunc(work, func(a, b target) bool { return a.textSegment == b.textSegment }), nil
}

// finish indexes a small rest.
func (x *indexer) finish(ctx context.Context, work []target) {
	ctx, cancel := context.WithTimeout(ctx, lastTime)
	defer cancel()
	for range lastPieces {
		var err error
		if work, err = x.next(ctx, work); err != nil || len(work) == 0 {
			return
		}
	}
}

// IndexText implements [store.Store].
func (s *Store) IndexText(ctx context.Context) error {
	if s.writer == nil {
		return s.refuse()
	}
	work, err := s.textBehind(ctx)
	for err == nil && len(work) > 0 {
		work, err = s.indexPiece(ctx, work)
	}
	return err
}
