package storetest

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

func testAfterCommit(t *testing.T, w *world) {
	k := w.create(w.key("calls")).Key

	w.run("calls are made once, in order, after the update is visible and before it returns", func(t *testing.T) {
		sealed, err := w.seal(says(1)...)
		if err != nil {
			t.Fatal(err)
		}
		var calls []string
		w.update(func(tx store.Tx) error {
			calls = append(calls, "begin")
			tx.AfterCommit(func() { calls = append(calls, "first") })
			tx.AfterCommit(func() {
				err := w.View(w.ctx(), func(tx store.Tx) error {
					info, err := tx.Log().Session(w.ctx(), k)
					if err == nil && info.Head != 1 {
						err = errors.New("the update is not visible")
					}
					return err
				})
				if err != nil {
					t.Error(err)
				}
				calls = append(calls, "second")
			})
			_, err := turn.Append(w.ctx(), tx.Log(), k, tx.Now(), sealed...)
			calls = append(calls, "end")
			return err
		})
		same(t, "calls", calls, []string{"begin", "end", "first", "second"})
	})

	w.run("an update that wrote nothing makes its calls too", func(t *testing.T) {
		called := 0
		w.update(func(tx store.Tx) error {
			tx.AfterCommit(func() { called++ })
			return nil
		})
		if called != 1 {
			t.Errorf("%d calls, want 1", called)
		}
	})

	w.run("nothing is called for what was not committed, or in a view", func(t *testing.T) {
		unwanted := func() { t.Error("called") }
		boom := errors.New("boom")
		is(t, "failing update", w.Update(w.ctx(), func(tx store.Tx) error {
			tx.AfterCommit(unwanted)
			return boom
		}), boom)
		ctx, cancel := context.WithCancel(w.ctx())
		defer cancel()
		is(t, "cancelled update", w.Update(ctx, func(tx store.Tx) error {
			tx.AfterCommit(unwanted)
			cancel()
			return nil
		}), context.Canceled)
		func() {
			defer func() { recover() }()
			is(t, "panicking update", w.Update(w.ctx(), func(tx store.Tx) error {
				tx.AfterCommit(unwanted)
				panic("boom")
			}), nil)
		}()
		w.view(func(tx store.Tx) error {
			tx.AfterCommit(unwanted)
			return nil
		})
	})

	// An embedded store is one that keeps the follow-up context in memory.
	if _, embedded := w.Light().(*dialogue.Light); embedded {
		w.run("calls come one at a time and in the order of the updates", func(t *testing.T) { testCallOrder(t, w) })
	}
}

func testCallOrder(t *testing.T, w *world) {
	k := w.create(w.key("order")).Key
	var order []int64 // unguarded on purpose: the race detector sees calls that overlap
	var calling atomic.Bool
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			sealed, err := w.seal(says(1)...)
			if err != nil {
				t.Error(err)
				return
			}
			err = w.Update(w.ctx(), func(tx store.Tx) error {
				turns, err := turn.Append(w.ctx(), tx.Log(), k, tx.Now(), sealed...)
				if err == nil {
					tx.AfterCommit(func() {
						if calling.Swap(true) {
							t.Error("two calls at once")
						}
						for range 100 {
							runtime.Gosched()
						}
						order = append(order, turns[0].Seq)
						calling.Store(false)
					})
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	same(t, "order", order, seqs(w.log(k)))
}
