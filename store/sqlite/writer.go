package sqlite

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// writer owns the connection that writes. One goroutine runs everybody's updates on it, in rounds:
// what waits is folded into one transaction, so that one fsync, the dearest part of a commit, serves
// all of it. See commitRound for how. While one round is synced the next one is already run, and takes in what comes until
// the disk is free: see flight.
//
// Who finds nobody writing and nobody waiting runs his update himself: handing it to another
// goroutine and waiting for its answer would cost as much as the statements.
type writer struct {
	s     *Store
	queue chan *update
	wake  chan struct{} // says that the queue holds something, or by being closed that nothing follows
	ended chan struct{}

	// turn is held by who writes. It guards c, log, mending, wary, version, rested and rescued.
	turn    sync.Mutex
	c       *lite.Conn
	log     *checkpointer
	mending mending
	// round are the updates that were taken from the queue and are not answered yet.
	round []*update
	// wary is for how many rounds to come savepoints are made at once.
	wary int
	sync func() error // c.SyncLog, but for tests
	// flight is the round that is on its way to the disk, nil if there is none.
	flight atomic.Pointer[flight]
	// astray says that the last flight was lost, until the log is mended.
	astray atomic.Bool
	// version is SQLite's number for what others wrote to the file.
	version int64
	// rested is how often the writer looked around since the last transaction.
	rested int
	// rescued says that it was tried to copy a log that was removed.
	rescued bool

	// mu guards closed, and keeps the queue open while an update is put in.
	mu     sync.RWMutex
	closed bool
}

// queueSize is how many updates wait at most. Callers past it wait for room.
const queueSize = 256

func newWriter(s *Store, c *lite.Conn, page int) *writer {
	return &writer{
		s: s, c: c, sync: c.SyncLog, log: newCheckpointer(s, page),
		queue: make(chan *update, queueSize), wake: make(chan struct{}, 1), ended: make(chan struct{}),
	}
}

// do runs fn in the writer and returns when what it wrote is durable, or committed if that may come later.
func (w *writer) do(ctx context.Context, fn func(store.Tx) error) error {
	u := &update{ctx: ctx, fn: fn, done: make(chan struct{}, 1)}
	if done, err := w.alone(u); done {
		if err != nil {
			return err
		}
		return u.result()
	}
	if err := w.put(ctx, u); err != nil {
		return err
	}
	select {
	case <-u.done:
	case <-ctx.Done():
		if u.state.CompareAndSwap(waiting, left) {
			return ctx.Err()
		}
		<-u.done
	}
	return u.result()
}

// alone runs the update in the caller's goroutine if nobody else is writing. It reports whether it did,
// or need not. No update of another's is run here: one may end the goroutine it runs in.
func (w *writer) alone(u *update) (done bool, err error) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return true, store.ErrClosed
	}
	if len(w.queue) > 0 || !w.turn.TryLock() {
		return false, nil
	}
	defer w.endTurn(&done)
	w.single([]*update{u})
	return true, nil
}

// endTurn lets others write. Where an update ended its goroutine, what it began is given up first, and it may have read what
// is in flight.
func (w *writer) endTurn(done *bool) {
	if !*done {
		w.rollback()
		w.settle()
	}
	w.turn.Unlock()
}

// inTurn runs f when it is the writer's turn.
func (w *writer) inTurn(f func()) {
	done := false
	w.turn.Lock()
	defer w.endTurn(&done)
	f()
	done = true
}

func (w *writer) put(ctx context.Context, u *update) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return store.ErrClosed
	}
	select {
	case w.queue <- u:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case w.wake <- struct{}{}:
	default: // it is awake already
	}
	return nil
}

// drain takes no more updates and returns when those that wait are made.
func (w *writer) drain() {
	w.mu.Lock()
	w.closed = true
	close(w.wake)
	w.mu.Unlock()
	<-w.ended
}

const (
	// lookAround is how often an idle writer looks whether somebody else wrote.
	lookAround = 100 * time.Millisecond
	// restAfter is how many looks make a rest.
	restAfter = 150
)

func (w *writer) run() {
	over := false
	defer func() {
		if over {
			close(w.ended)
			return
		}
		// An update, or its hook, ended the goroutine it ran in. Another one goes on with those that are not answered.
		w.round = slices.DeleteFunc(w.round, func(u *update) bool {
			if u.exited && u.state.Load() == begun {
				u.answer()
			}
			return u.state.Load() == told
		})
		go w.run()
	}()
	w.inTurn(w.rounds)
	tick := time.NewTicker(lookAround)
	defer tick.Stop()
	for {
		select {
		case _, open := <-w.wake:
			w.inTurn(w.rounds)
			if !open {
				w.settle()
				over = true
				return
			}
		case <-tick.C:
			if w.turn.TryLock() {
				w.lookAtFiles()
				w.look()
				w.rest()
				w.mendIdly()
				w.turn.Unlock()
			}
		}
	}
}

// rounds makes rounds of what waits until nothing does, beginning with what was left of one that an
// update broke off.
func (w *writer) rounds() {
	w.oneByOne()
	for len(w.queue) > 0 {
		w.round = w.round[:0]
		for len(w.round) < w.s.config.GroupCommit && len(w.queue) > 0 {
			w.round = append(w.round, <-w.queue)
		}
		w.commitRound()
	}
}

// look notices what others wrote. An error is none of anybody's: the next update meets it again.
func (w *writer) look() {
	q := w.c.Prepare(`PRAGMA data_version`)
	defer q.Close()
	if ok, err := q.Step(); err == nil && ok {
		w.note(q.ReadInt())
	}
}

// lookAtFiles notices that the log was removed, and copies it into the file while that can be done: it holds what was
// acknowledged, and a process that is killed takes it away. With another log in its place, or another index, others may have
// begun to write.
func (w *writer) lookAtFiles() {
	if w.s.files.check() != nil && !w.rescued {
		w.rescued = true
		if w.s.files.onlyLog() {
			w.settle()
			w.c.Checkpoint(false) // what it cannot copy is copied when the store is closed
		}
	}
}

// rest gives back the memory of SQLite's cache, once for each rest, and returns how many bytes it had. The next update reads
// from the system's cache what it needs.
func (w *writer) rest() (freed int) {
	if w.rested++; w.rested != restAfter {
		return 0
	}
	return w.c.Shrink()
}

func (w *writer) note(version int64) {
	if version != w.version {
		w.version = version
		w.s.generation.Add(1)
	}
}
