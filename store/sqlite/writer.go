package sqlite

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// writer owns the connection that writes. One goroutine runs everybody's updates on it, in rounds:
// what waits is folded into one transaction, so that one fsync, the dearest part of a commit, serves
// all of it. A round never waits for more to come. See commitRound for how.
type writer struct {
	s     *Store
	c     *lite.Conn
	log   *checkpointer
	queue chan *update
	ended chan struct{}
	// round are the updates that were taken from the queue and are not answered yet.
	round []*update
	// version is SQLite's number for what others wrote to the file.
	version int64

	// mu guards closed, and keeps the queue open while an update is put in.
	mu     sync.RWMutex
	closed bool
}

// queueSize is how many updates wait at most. Callers past it wait for room.
const queueSize = 256

func newWriter(s *Store, c *lite.Conn) *writer {
	return &writer{s: s, c: c, log: newCheckpointer(s), queue: make(chan *update, queueSize), ended: make(chan struct{})}
}

// do runs fn in the writer and returns when what it wrote is durable.
func (w *writer) do(ctx context.Context, fn func(store.Tx) error) error {
	u := &update{ctx: ctx, fn: fn, done: make(chan struct{}, 1)}
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

func (w *writer) put(ctx context.Context, u *update) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return store.ErrClosed
	}
	select {
	case w.queue <- u:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// drain takes no more updates and returns when those that wait are made.
func (w *writer) drain() {
	w.mu.Lock()
	w.closed = true
	close(w.queue)
	w.mu.Unlock()
	<-w.ended
}

// lookAround is how often an idle writer looks whether somebody else wrote.
const lookAround = 100 * time.Millisecond

func (w *writer) run() {
	over := false
	defer func() {
		if over {
			close(w.ended)
			return
		}
		// An update ended the goroutine it ran in. Another one goes on with the others.
		w.rollback()
		w.round = slices.DeleteFunc(w.round, func(u *update) bool {
			if u.exited {
				u.answer()
			}
			return u.exited
		})
		go w.run()
	}()
	w.oneByOne()
	tick := time.NewTicker(lookAround)
	defer tick.Stop()
	for {
		select {
		case u, open := <-w.queue:
			if !open {
				over = true
				return
			}
			w.fill(u)
			w.commitRound()
		case <-tick.C:
			w.look()
		}
	}
}

// fill makes a round of the update and what else waits.
func (w *writer) fill(first *update) {
	w.round = append(w.round[:0], first)
	for len(w.round) < w.s.config.GroupCommit {
		select {
		case u, open := <-w.queue:
			if !open {
				return
			}
			w.round = append(w.round, u)
		default:
			return
		}
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

func (w *writer) note(version int64) {
	if version != w.version {
		w.version = version
		w.s.generation.Add(1)
	}
}
