package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

func testTransactions(t *testing.T, w *world) {
	k := w.create(w.key("kept")).Key
	w.append(k, said(turn.User, "first"), called("open"))

	w.run("a failing update leaves nothing of any table behind", func(t *testing.T) {
		before := w.dump()
		boom := errors.New("boom")
		err := w.Update(w.ctx(), func(tx store.Tx) error {
			if err := w.writeEverything(tx, k); err != nil {
				return err
			}
			return fmt.Errorf("wrapped: %w", boom)
		})
		is(t, "update", err, boom)
		same(t, "rows", w.dump(), before)
	})

	w.run("a panicking update leaves nothing behind and the panic reaches the caller", func(t *testing.T) {
		before := w.dump()
		type bomb struct{ fuse int }
		func() {
			defer func() {
				if got := recover(); got != (bomb{3}) {
					t.Errorf("recovered %v, want what was thrown", got)
				}
			}()
			err := w.Update(w.ctx(), func(tx store.Tx) error {
				if err := w.writeEverything(tx, k); err != nil {
					return err
				}
				panic(bomb{3})
			})
			t.Errorf("update returned %v instead of panicking", err)
		}()
		same(t, "rows", w.dump(), before)
	})

	w.run("a panicking view reaches the caller", func(t *testing.T) {
		defer func() {
			if got := recover(); got != "view" {
				t.Errorf("recovered %v, want what was thrown", got)
			}
		}()
		err := w.View(w.ctx(), func(store.Tx) error { panic("view") })
		t.Errorf("view returned %v instead of panicking", err)
	})

	w.run("the store goes on after all that", func(t *testing.T) {
		same(t, "seqs", seqs(w.append(k, says(2)...)), []int64{3, 4})
		w.update(func(tx store.Tx) error { return w.writeEverything(tx, k) })
	})

	w.run("an error of a view comes back as it is", func(t *testing.T) {
		boom := errors.New("boom")
		is(t, "view", w.View(w.ctx(), func(store.Tx) error { return boom }), boom)
	})

	w.run("one failing update does not harm its neighbours", func(t *testing.T) { testNeighbours(t, w) })
	w.run("a view cannot write", func(t *testing.T) { testReadOnly(t, w, k) })
	w.run("a transaction cannot be used after its end", func(t *testing.T) { testEnded(t, w, k) })

	w.run("now is one time: UTC, microseconds, between begin and end", func(t *testing.T) {
		for name, begin := range map[string]func(func(store.Tx) error){"view": w.view, "update": w.update} {
			var times []time.Time
			begin(func(tx store.Tx) error {
				times = []time.Time{tx.Now(), tx.Now()}
				return nil
			})
			now := times[0]
			if now.Location() != time.UTC || now.Nanosecond()%1000 != 0 || now != times[1] {
				t.Errorf("%s: now is %v and then %v", name, now, times[1])
			}
			// A database may have a clock of its own, but it is the same machine's.
			if age := time.Since(now); age < -time.Minute || age > time.Minute {
				t.Errorf("%s: now is %v away from now", name, age)
			}
		}
	})
}

// writeEverything writes a row of every table, next to an existing session k.
func (w *world) writeEverything(tx store.Tx, k turn.Key) error {
	ctx, now := w.ctx(), tx.Now()
	sealed, err := w.seal(said(turn.User, "more"), called("x1", "x2"), returned("x1"),
		turn.Draft{Role: turn.User, Content: turn.Image{MediaType: "image/png", Blob: turn.Blob{Data: []byte("picture")}}},
		turn.Draft{Role: turn.User, Content: turn.Text{Text: "once"}, IdempotencyKey: "fresh"})
	if err != nil {
		return err
	}
	segment, err := tx.Log().InsertSession(ctx, blank(w.key("another"), now))
	if err != nil {
		return err
	}
	if _, err := turn.Append(ctx, tx.Log(), w.key("another"), now, sealed...); err != nil {
		return err
	}
	fork := turn.SessionInfo{Key: w.key("child")}
	if _, err := turn.Fork(ctx, tx.Log(), w.key("another"), 1, fork, now); err != nil {
		return err
	}
	info, err := tx.Log().LockSession(ctx, k)
	if err != nil {
		return err
	}
	closed, err := w.seal(returned("open"), said(turn.User, "bye"))
	if err != nil {
		return err
	}
	if _, err := turn.Append(ctx, tx.Log(), k, now, closed...); err != nil {
		return err
	}
	info.Title, info.Head, info.LastActivity = "renamed", info.Head+2, now
	_, sweep := tx.Log().SweepBlobs(ctx, now, []turn.BlobKey{{Tenant: k.Tenant, SHA256: "none"}})
	_, start := dialogue.Start(ctx, tx.Dialogue(), k.Tenant, segment, now)
	return errors.Join(sweep, start,
		tx.Log().UpdateSession(ctx, info),
		tx.Log().InsertBookmark(ctx, k, turn.Bookmark{Name: "here", Seq: 1, At: now}),
		tx.Log().SetLease(ctx, k, turn.Lease{Token: "mine", Until: now.Add(time.Minute)}),
		tx.Log().InsertCompletedFlow(ctx, k.Tenant, info.Segment, "done", 1),
		tx.Dialogue().InsertFlowTurns(ctx, k.Tenant, info.Segment, 1, []dialogue.Pointer{{FlowID: "f", TurnID: "t"}}),
		w.writeCommitted(tx, info, now),
		w.writePrompts(tx, info),
		w.writeCheckpoints(tx, info),
		w.writeExchanges(tx, k),
		w.writeServed(tx, k, now),
	)
}

// testNeighbours runs good and bad updates at once; a store may fold them into one transaction.
func testNeighbours(t *testing.T, w *world) {
	k := w.create(w.key("neighbours")).Key
	boom := errors.New("boom")
	errs := make(chan error, 32)
	for i := range cap(errs) {
		go func() {
			sealed, err := w.seal(said(turn.User, fmt.Sprintf("writer %d", i)))
			if err != nil {
				errs <- err
				return
			}
			err = w.Update(w.ctx(), func(tx store.Tx) error {
				if _, err := turn.Append(w.ctx(), tx.Log(), k, tx.Now(), sealed...); err != nil {
					return err
				}
				if i%3 == 0 {
					return boom
				}
				return nil
			})
			if i%3 == 0 {
				if !errors.Is(err, boom) {
					err = fmt.Errorf("bad writer %d got %v", i, err)
				} else {
					err = nil
				}
			}
			errs <- err
		}()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	log := w.log(k)
	if want := cap(errs) - (cap(errs)+2)/3; len(log) != want || log[len(log)-1].Seq != int64(want) {
		t.Errorf("%d turns up to seq %d, want %d", len(log), log[len(log)-1].Seq, want)
	}
}
