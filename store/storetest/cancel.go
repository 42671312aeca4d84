package storetest

import (
	"context"
	"testing"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

func testCancellation(t *testing.T, w *world) {
	k := w.create(w.key("calm")).Key
	w.append(k, said(turn.User, "first"), called("open"))

	w.run("a context that is over before the transaction keeps it from running", func(t *testing.T) {
		ctx, cancel := context.WithCancel(w.ctx())
		cancel()
		ran := false
		fn := func(store.Tx) error {
			ran = true
			return nil
		}
		is(t, "view", w.View(ctx, fn), context.Canceled)
		is(t, "update", w.Update(ctx, fn), context.Canceled)
		if ran {
			t.Error("the function ran")
		}
	})

	w.run("a deadline that has passed is that error", func(t *testing.T) {
		ctx, cancel := context.WithDeadline(w.ctx(), noon)
		defer cancel()
		is(t, "update", w.Update(ctx, func(store.Tx) error { return nil }), context.DeadlineExceeded)
	})

	w.run("a cancelled update is rolled back even if its function returns nil", func(t *testing.T) {
		before := w.dump()
		ctx, cancel := context.WithCancel(w.ctx())
		defer cancel()
		err := w.Update(ctx, func(tx store.Tx) error {
			if err := w.writeEverything(tx, k); err != nil {
				return err
			}
			cancel()
			return nil
		})
		is(t, "update", err, context.Canceled)
		same(t, "rows", w.dump(), before)
	})

	w.run("a statement after the cancellation fails and the update is rolled back", func(t *testing.T) {
		before := w.dump()
		sealed, err := w.seal(says(2)...)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(w.ctx())
		defer cancel()
		var second error
		err = w.Update(ctx, func(tx store.Tx) error {
			if _, err := turn.Append(ctx, tx.Log(), k, tx.Now(), sealed[0]); err != nil {
				return err
			}
			cancel()
			_, second = turn.Append(ctx, tx.Log(), k, tx.Now(), sealed[1])
			return second
		})
		is(t, "update", err, context.Canceled)
		if second == nil {
			t.Error("a statement ran after the cancellation")
		}
		same(t, "rows", w.dump(), before)
	})

	w.run("an update that waits for another writer can be cancelled", func(t *testing.T) {
		sealed, err := w.seal(says(2)...)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(w.ctx())
		defer cancel()
		holding, release := make(chan struct{}), make(chan struct{})
		first, second := make(chan error, 1), make(chan error, 1)
		go func() {
			first <- w.Update(w.ctx(), func(tx store.Tx) error {
				if _, err := turn.Append(w.ctx(), tx.Log(), k, tx.Now(), sealed[0]); err != nil {
					return err
				}
				close(holding)
				<-release
				return nil
			})
		}()
		<-holding
		go func() {
			second <- w.Update(ctx, func(tx store.Tx) error {
				_, err := turn.Append(ctx, tx.Log(), k, tx.Now(), sealed[1])
				return err
			})
		}()
		cancel()
		close(release)
		if err := <-first; err != nil {
			t.Errorf("the writer that was waited for: %v", err)
		}
		is(t, "the writer that waited", <-second, context.Canceled)
		if head := w.session(k).Head; head != 3 || len(w.log(k)) != 3 {
			t.Errorf("head %d with %d turns, want 3", head, len(w.log(k)))
		}
	})

	w.run("the store goes on", func(t *testing.T) {
		head := w.session(k).Head
		same(t, "seqs", seqs(w.append(k, says(1)...)), []int64{head + 1})
	})

	w.run("a dump that is cancelled ends with that error", func(t *testing.T) {
		ctx, cancel := context.WithCancel(w.ctx())
		defer cancel()
		err := w.Dump(ctx, func(store.Row) error {
			cancel()
			return nil
		})
		is(t, "dump", err, context.Canceled)
	})
}
