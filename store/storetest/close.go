package storetest

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/turnstone-dev/turnstone/internal/leaktest"
	"github.com/turnstone-dev/turnstone/store"
)

func testClose(t *testing.T, open opener) {
	t.Run("a closed store refuses everything", func(t *testing.T) {
		w := newWorld(t, open)
		k := w.create(w.key("s")).Key
		w.append(k, says(3)...)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		ran := func(store.Tx) error {
			t.Error("a transaction ran")
			return nil
		}
		is(t, "view", w.View(w.ctx(), ran), store.ErrClosed)
		is(t, "update", w.Update(w.ctx(), ran), store.ErrClosed)
		is(t, "index", w.IndexText(w.ctx()), store.ErrClosed)
		_, err := w.Publish(w.ctx(), 10, store.Publication{})
		is(t, "publish", err, store.ErrClosed)
		is(t, "dump", w.Dump(w.ctx(), func(store.Row) error { return nil }), store.ErrClosed)
		is(t, "load", w.Load(w.ctx(), sequence(nil)), store.ErrClosed)
		_, err = w.Check(w.ctx())
		is(t, "check", err, store.ErrClosed)
	})

	t.Run("close waits for running transactions", func(t *testing.T) {
		w := newWorld(t, open)
		k := w.create(w.key("s")).Key
		running, finish := make(chan struct{}), make(chan struct{})
		updated, closed := make(chan error, 1), make(chan error, 1)
		go func() {
			updated <- w.Update(w.ctx(), func(tx store.Tx) error {
				close(running)
				<-finish
				_, err := tx.Log().LockSession(w.ctx(), k)
				return err
			})
		}()
		<-running
		go func() { closed <- w.Close() }()
		close(finish)
		if err := <-updated; err != nil {
			t.Errorf("the running update: %v", err)
		}
		if err := <-closed; err != nil {
			t.Errorf("close: %v", err)
		}
	})

	t.Run("close leaves no goroutine behind", func(t *testing.T) {
		use := func() {
			w := newWorld(t, open)
			k := w.create(w.key("s")).Key
			w.append(k, says(3)...)
			if err := w.IndexText(w.ctx()); err != nil {
				t.Error(err)
			}
			w.append(k, says(3)...)
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		}
		use() // what a first use starts for good, such as a database server, is not the store's
		before := goleak.IgnoreCurrent()
		use()
		leaktest.None(t, before)
	})

	t.Run("a whole store has nothing to complain about", func(t *testing.T) {
		w := newWorld(t, open)
		w.append(w.create(w.key("s")).Key, says(3)...)
		problems, err := w.Check(w.ctx())
		if err != nil || len(problems) > 0 {
			t.Errorf("%v, %v", problems, err)
		}
	})
}
