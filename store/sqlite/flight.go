package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// flight is a round that is committed and on its way to the disk, while the writer already runs the updates of the next one.
// Nobody is told of it before it has landed: its updates are answered then, and who reads meanwhile waits for it at the end.
// There is one at a time.
//
// HAZARD: another process sees the round a moment before it is durable. What that one commits is durable with it or not at
// all, since both are in the same log, and what it publishes it commits first: see publisher.claim.
type flight struct {
	durable chan struct{} // closed as soon as it is, or nobody knows
	landed  chan struct{} // closed when its updates are answered, too
}

// takeOff is called before the commit of a round, so that nobody who sees it can miss the flight.
func (w *writer) takeOff() *flight {
	f := &flight{durable: make(chan struct{}), landed: make(chan struct{})}
	w.flight.Store(f)
	return f
}

// fly makes the round durable and answers it.
func (w *writer) fly(f *flight, round []*update) {
	if err := w.sync(); err != nil {
		w.astray.Store(true)
		// What it wrote may be there once the log is mended, and no hook of its updates has told anybody: what is kept in memory
		// may be old.
		w.s.generation.Add(1)
		w.lose(round, err)
	}
	close(f.durable)
	defer w.land(f) // deferred, since a hook may end the goroutine
	w.answer(round)
}

func (w *writer) land(f *flight) {
	w.flight.Store(nil)
	close(f.landed)
}

// lose has the updates of a flight that was not synced answered so. Also those that failed: it may be for what others in it
// wrote before them.
func (w *writer) lose(round []*update, err error) {
	for _, u := range round {
		switch {
		case u.state.Load() != begun:
		case u.failed():
			u.err = w.s.translate(err)
		default:
			u.err = w.commitError(err)
		}
	}
}

// stay is takeOff undone: there was no commit.
func (w *writer) stay(f *flight) {
	close(f.durable)
	w.land(f)
}

// settle waits for the round that is in flight. No commit and no answer may overtake it: they may rest on what it wrote.
func (w *writer) settle() {
	if f := w.flight.Load(); f != nil {
		<-f.landed
	}
}

// settled waits until what was read is durable.
func (w *writer) settled(ctx context.Context) error {
	if f := w.flight.Load(); f != nil {
		select {
		case <-f.durable:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if !w.astray.Load() || !w.c.Unsure() {
		return nil
	}
	return w.unsure()
}

// mend has a log on the disk again of which nobody knows what is there. Where that cannot be done yet nothing is committed.
func (w *writer) mend() error {
	if !w.c.Unsure() {
		return nil
	}
	w.settle()
	err := w.c.MendLog()
	for deadline := time.Now().Add(lookAround); code(err) == lite.Busy && time.Now().Before(deadline); err = w.c.MendLog() {
		time.Sleep(time.Millisecond) // as SQLite does where others stand in its way
	}
	switch {
	case code(err) == lite.Busy, w.c.Broken():
		return w.unsure()
	case err != nil:
		return w.s.translate(err)
	}
	w.astray.Store(false)
	return nil
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

// join takes one more update into the round, if one comes while the round before is in flight: it could not be committed
// sooner than this one in any case.
func (w *writer) join() bool {
	f := w.flight.Load()
	if f == nil || len(w.round) >= w.s.config.GroupCommit {
		return false
	}
	select {
	case u := <-w.queue:
		w.round = append(w.round, u)
		return true
	case <-f.landed:
		return false
	}
}
