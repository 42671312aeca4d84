package sqlite

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/turnstone-dev/turnstone/internal/pause"
)

// indexer fills the full-text indexes, of turns and of memory, in the background: never inside an
// append, and in small pieces that nobody waits long for. While others write it takes a tenth of the
// time at most.
type indexer struct {
	s    *Store
	wake chan struct{}
	// turn is held by whoever indexes a piece, so that nobody does the same work.
	turn  chan struct{}
	final time.Duration // lastTime, but for tests

	// mu guards what follows.
	mu     sync.Mutex
	behind map[textSource]struct{} // what was appended to
	look   time.Time               // when to look for what else is behind, zero for never
	since  time.Time               // of the oldest append that is not indexed
	last   time.Time               // of the newest append
}

const (
	// quiet is how long nobody must have appended for the index to be filled at once.
	quiet = 50 * time.Millisecond
	// patience is how long the index waits for a quiet moment, after an error, and before it looks
	// for what others left behind: a program that only opens the store and reads is not slowed down.
	patience = time.Second
	// share is the part of the time that indexing may take while others write: one in so many.
	share = 10
	// At the end a small rest is indexed, so that programs that run for a moment do not leave an ever
	// longer one behind.
	lastPieces = 8
	lastTime   = 100 * time.Millisecond
)

func newIndexer(s *Store) *indexer {
	return &indexer{s: s, wake: make(chan struct{}, 1), turn: make(chan struct{}, 1), behind: make(map[textSource]struct{}), final: lastTime}
}

// note is told by the writer what was appended to.
func (x *indexer) note(appended []textSource) {
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

// lookAtAll makes the indexer look, in a while, for what is behind.
func (x *indexer) lookAtAll() {
	x.mu.Lock()
	x.look = time.Now().Add(patience)
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
			for len(work) == 0 && x.untilDue() > 0 {
				if !pause.For(ctx, x.untilDue()) {
					return
				}
			}
			started := time.Now()
			var err error
			work, err = x.next(ctx, work)
			rest := time.Duration(0)
			switch {
			case err != nil:
				// Those who write are told what is wrong. Searches read what is not indexed.
				rest = patience
			case x.busy():
				rest = (share - 1) * time.Since(started)
			}
			if !pause.For(ctx, rest) {
				return
			}
			more = err != nil || len(work) > 0 || x.pending()
		}
	}
}

// untilDue is how long to wait before new work is begun.
func (x *indexer) untilDue() time.Duration {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := time.Now()
	switch {
	case len(x.behind) > 0:
		return min(quiet-now.Sub(x.last), patience-now.Sub(x.since))
	case !x.look.IsZero():
		return x.look.Sub(now)
	}
	return 0
}

// pending reports whether there is work that nobody was woken for.
func (x *indexer) pending() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return !x.look.IsZero()
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
		work = x.take()
	}
	if len(work) == 0 && x.dueToLook() {
		var err error
		if work, err = x.s.textBehind(ctx); err != nil {
			x.lookAtAll()
			return nil, err
		}
	}
	return x.piece(ctx, work)
}

// piece indexes a piece of the work and returns the rest.
func (x *indexer) piece(ctx context.Context, work []target) ([]target, error) {
	select {
	case x.turn <- struct{}{}:
		defer func() { <-x.turn }()
	case <-ctx.Done():
		return work, ctx.Err()
	}
	return x.s.indexPiece(ctx, work)
}

// take returns what was appended to since it was last asked.
func (x *indexer) take() []target {
	x.mu.Lock()
	defer x.mu.Unlock()
	work := make([]target, 0, len(x.behind))
	for s := range x.behind {
		work = append(work, target{textSource: s, through: math.MaxInt64})
	}
	clear(x.behind)
	slices.SortFunc(work, func(a, b target) int { return cmp.Compare(a.segment, b.segment) })
	return work
}

// dueToLook reports, once, whether it is time to look for what is behind.
func (x *indexer) dueToLook() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	due := !x.look.IsZero() && !time.Now().Before(x.look)
	if due {
		x.look = time.Time{}
	}
	return due
}

// finish indexes a small rest of what this process appended.
func (x *indexer) finish(ctx context.Context, work []target) {
	ctx, cancel := context.WithTimeout(ctx, x.final)
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
		work, err = s.text.piece(ctx, work)
	}
	return err
}
