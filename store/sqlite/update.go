package sqlite

import (
	"context"
	"runtime"
	"sync/atomic"

	"github.com/turnstone-dev/turnstone/store"
)

// update is a caller's function on its way through the writer.
type update struct {
	ctx   context.Context
	fn    func(store.Tx) error
	state atomic.Int32 // one of the four below
	done  chan struct{}

	// What follows is the writer's until it answers.
	tx       *tx
	err      error
	panicked any  // what fn panicked with
	exited   bool // fn ended its goroutine
}

// An update waits until the writer begins it or the caller leaves, whoever is first. What was begun is told how it went.
const (
	waiting int32 = iota
	begun
	left
	told
)

// begin reports whether the update is to be run. It may be asked again for one that was begun.
func (u *update) begin() bool {
	return u.state.CompareAndSwap(waiting, begun) || u.state.Load() == begun
}

// call runs fn so that, however it ends, the writer can go on. Where fn ends the goroutine itself
// (runtime.Goexit, as a failing test does) call does not return: the writer's goroutine is on its
// way out, running what was deferred.
func (u *update) call(t *tx) {
	u.tx, u.err, u.panicked = t, nil, nil
	returned := false
	defer func() {
		t.ended = true
		if !returned {
			u.panicked = recover()
			u.exited = u.panicked == nil
		}
	}()
	u.err = u.ctx.Err()
	if u.err == nil {
		u.err = u.fn(t)
	}
	// fn may have gone on after a statement failed or was refused.
	if u.err == nil {
		u.err = t.lost
	}
	if u.err == nil {
		u.err = u.ctx.Err()
	}
	returned = true
}

func (u *update) failed() bool { return u.err != nil || u.panicked != nil }

// announce runs what was to be run after the commit. Like call it does not return where that ends the goroutine.
func (u *update) announce() {
	if len(u.tx.after) == 0 {
		return
	}
	returned := false
	defer func() {
		if !returned {
			u.panicked = recover()
			u.exited = u.panicked == nil
		}
	}()
	for _, f := range u.tx.after {
		f()
	}
	returned = true
}

// answer lets the caller go on.
func (u *update) answer() {
	u.state.Store(told)
	u.done <- struct{}{}
}

// result is what the caller of Update gets. What fn did to the writer's goroutine it does to the
// caller's instead.
func (u *update) result() error {
	if u.panicked != nil {
		panic(u.panicked)
	}
	if u.exited {
		runtime.Goexit()
	}
	return u.err
}
