package sqlite

import (
	"context"
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
	err := w.sync()
	if err != nil {
		w.astray.Store(true)
	} else {
		err = w.s.files.check()
	}
	if err != nil {
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

// lose has the updates of a round that is committed and was not synced, or not into a file that is still there, answered so.
// Also those that failed: it may be for what others in it wrote before them.
func (w *writer) lose(round []*update, err error) {
	// What they wrote may be there once the log is mended, and no hook of the updates has told anybody: what is kept in memory
	// may be old.
	w.s.generation.Add(1)
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
	if w.c.Broken() || w.astray.Load() && w.c.Unsure() {
		return w.unsure()
	}
	return nil
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
