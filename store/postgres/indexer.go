package postgres

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	// quiet is how long nothing must have been written before the index is filled, and patience
	// after which time it is filled all the same.
	quiet    = 50 * time.Millisecond
	patience = time.Second
	// firstLook is when a store that stays open looks for what others left behind, and lookEvery
	// how often it does so again. A short command has no time for that.
	firstLook = time.Second
	lookEvery = 5 * time.Minute
	// lastRows and lastWait bound what Close still indexes, so that short commands do not leave an
	// ever longer tail behind and yet end at once.
	lastRows = 512
	lastWait = 100 * time.Millisecond
	// firstRest and maxRest bound the rest after an error or a claim of somebody else's.
	firstRest = 250 * time.Millisecond
	maxRest   = time.Minute
)

// indexer fills the indexes of turns and of memory in the background, by one goroutine.
type indexer struct {
	store  *Store
	wake   chan struct{} // holds an element while there may be something to do
	look   chan struct{} // holds an element after a load
	stop   chan struct{}
	done   chan struct{}
	cancel context.CancelFunc
	last   time.Duration // lastWait, but for tests

	// mu guards what follows.
	mu      sync.Mutex
	waiting map[segmentKey]struct{} // also memoryQueue
	noted   time.Time
	failure error
	again   *time.Timer // wakes the goroutine for segments that another process had
}

// startIndexer starts the goroutine; close ends it.
func startIndexer(ctx context.Context, s *Store) *indexer {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	x := &indexer{
		store: s, wake: make(chan struct{}, 1), look: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}), cancel: cancel, last: lastWait,
		waiting: make(map[segmentKey]struct{}),
	}
	x.again = time.AfterFunc(firstLook, x.ring)
	go x.run(ctx)
	return x
}

// note remembers segments that have turns to index, or the memoryQueue.
func (x *indexer) note(segments []segmentKey) {
	if len(segments) == 0 {
		return
	}
	x.mu.Lock()
	for _, k := range segments {
		x.waiting[k] = struct{}{}
	}
	x.noted = time.Now()
	x.mu.Unlock()
	x.ring()
}

func (x *indexer) ring() { signal(x.wake) }

// lookSoon says that there may be segments to index that nobody noted.
func (x *indexer) lookSoon() { signal(x.look) }

func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default: // it is still to be noticed
	}
}

// take hands over the remembered segments. Who takes them indexes them or notes them again.
func (x *indexer) take() []segmentKey {
	x.mu.Lock()
	defer x.mu.Unlock()
	taken := make([]segmentKey, 0, len(x.waiting))
	for k := range x.waiting {
		taken = append(taken, k)
	}
	clear(x.waiting)
	return taken
}

// close ends the goroutine, which indexes a small rest first.
func (x *indexer) close() {
	close(x.stop)
	late := time.AfterFunc(x.last, x.cancel)
	<-x.done
	x.again.Stop()
	late.Stop()
	x.cancel()
}

func (x *indexer) run(ctx context.Context) {
	defer close(x.done)
	due := time.NewTimer(firstLook)
	defer due.Stop()
	rest := firstRest
	for !x.stopped() {
		var err error
		select {
		case <-x.stop:
		case <-due.C:
			err = x.catchUp(ctx)
			due.Reset(lookEvery)
		case <-x.look:
			err = x.catchUp(ctx)
		case <-x.wake:
			x.settle()
			err = x.fill(ctx)
		}
		if x.failed(err); err == nil {
			rest = firstRest
			continue
		}
		x.pause(rest)
		rest = min(2*rest, maxRest)
	}
	x.finish(ctx)
}

// catchUp indexes what others left behind.
func (x *indexer) catchUp(ctx context.Context) error {
	return x.store.behind(ctx, func(k segmentKey) error { return x.index(ctx, k) })
}

// failed keeps why the last attempt failed, nil if it did not, for whoever asks whether all is well.
func (x *indexer) failed(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.failure = err
}

// lastFailure returns what failed keeps.
func (x *indexer) lastFailure() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.failure
}

func (x *indexer) stopped() bool {
	select {
	case <-x.stop:
		return true
	default:
		return false
	}
}

func (x *indexer) pause(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-x.stop:
	}
}

// settle waits until the writers are quiet, but not for ever.
func (x *indexer) settle() {
	for end := time.Now().Add(patience); !x.stopped() && time.Now().Before(end); {
		x.mu.Lock()
		left := quiet - time.Since(x.noted)
		x.mu.Unlock()
		if left <= 0 {
			return
		}
		x.pause(left)
	}
}

// fill indexes what was noted. What could not be indexed is noted again.
func (x *indexer) fill(ctx context.Context) error {
	var failure error
	for _, k := range x.take() {
		if err := x.index(ctx, k); err != nil {
			failure = err
			x.note([]segmentKey{k})
		}
	}
	return failure
}

// index brings one segment up to date in small steps, until the store is closed. A segment that
// another process has is left to it and comes up again.
func (x *indexer) index(ctx context.Context, k segmentKey) error {
	for more := true; more && !x.stopped(); {
		var err error
		if _, more, err = x.store.indexNext(ctx, k, claimFree); err != nil {
			if errors.Is(err, errClaimed) {
				x.later(k)
				return nil
			}
			return err
		}
	}
	if x.stopped() {
		x.note([]segmentKey{k})
	}
	return nil
}

// later notes a segment again after a rest.
func (x *indexer) later(k segmentKey) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.waiting[k] = struct{}{}
	x.again.Reset(firstRest)
}

// finish indexes a small rest. What is left then is found by the next store that looks.
func (x *indexer) finish(ctx context.Context) {
	left := lastRows
	for _, k := range x.take() {
		n, err := x.store.indexSegment(ctx, k, claimFree, left)
		if left -= n; err != nil || left <= 0 {
			return
		}
	}
}
