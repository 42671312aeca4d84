package storetest

import (
	"context"
	"errors"
	"testing"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

func testSavepoints(t *testing.T, w *world) {
	k := w.create(w.key("kept")).Key
	w.append(k, said(turn.User, "first"), called("open"))
	segment := w.session(k).Segment
	boom := errors.New("boom")
	// mark writes a row that a dump shows.
	mark := func(tx store.Tx, id string) error {
		return tx.Scratch().PutObservation(w.ctx(), k.Tenant, segment, noticed(id, "active"))
	}
	// marks are the ids of those rows.
	marks := func() []string {
		var ids []string
		for _, o := range w.observations(k.Tenant, segment, noon, false) {
			ids = append(ids, o.ID)
		}
		return ids
	}

	w.run("what a failing one wrote is undone, what came before and after stays", func(t *testing.T) {
		w.update(func(tx store.Tx) error {
			if err := mark(tx, "1-before"); err != nil {
				return err
			}
			err := tx.Savepoint(w.ctx(), func() error { return errors.Join(w.writeEverything(tx, k), boom) })
			is(t, "savepoint", err, boom)
			if _, err := tx.Log().Session(w.ctx(), w.key("another")); !errors.Is(err, turn.ErrNotFound) {
				t.Errorf("what was undone is still seen: %v", err)
			}
			return mark(tx, "2-after")
		})
		same(t, "marks", marks(), []string{"1-before", "2-after"})
		same(t, "log", len(w.log(k)), 2)
		w.indexText()
	})

	w.run("a panicking one is undone, and the update may go on", func(t *testing.T) {
		before := len(w.dump())
		w.update(func(tx store.Tx) error {
			func() {
				defer func() {
					if got := recover(); got != "fuse" {
						t.Errorf("recovered %v, want what was thrown", got)
					}
				}()
				err := tx.Savepoint(w.ctx(), func() error {
					if err := w.writeEverything(tx, k); err != nil {
						return err
					}
					panic("fuse")
				})
				t.Errorf("savepoint returned %v instead of panicking", err)
			}()
			return mark(tx, "3-after")
		})
		same(t, "marks", marks(), []string{"1-before", "2-after", "3-after"})
		same(t, "rows", len(w.dump()), before+1)
	})

	w.run("two in a row: each for itself", func(t *testing.T) {
		w.update(func(tx store.Tx) error {
			good := tx.Savepoint(w.ctx(), func() error { return mark(tx, "4-good") })
			bad := tx.Savepoint(w.ctx(), func() error { return errors.Join(mark(tx, "4-good-changed"), mark(tx, "5-bad"), boom) })
			is(t, "bad", bad, boom)
			again := tx.Savepoint(w.ctx(), func() error { return mark(tx, "6-good") })
			return errors.Join(good, again)
		})
		same(t, "marks", marks()[3:], []string{"4-good", "6-good"})
	})

	w.run("a failing update takes its good savepoints with it", func(t *testing.T) {
		before := w.dump()
		err := w.Update(w.ctx(), func(tx store.Tx) error {
			if err := tx.Savepoint(w.ctx(), func() error { return w.writeEverything(tx, k) }); err != nil {
				return err
			}
			return boom
		})
		is(t, "update", err, boom)
		same(t, "rows", w.dump(), before)
	})

	w.run("what the store refuses inside is undone with the rest, and the update may go on", func(t *testing.T) {
		stale, e := intend("goal", 1, 0, true), w.exported(w.session(k), 1, 1)
		w.intend(k.Tenant, segment, stale)
		w.export(e)
		w.openEpochs(w.session(k), opened(1, 0))
		w.compile(w.session(k), compiled(1, 0, 1))
		w.pin(w.session(k), pin(1, 1, 1, true))
		w.compress(w.session(k), compressed(1, 1, 0))
		w.take(w.session(k), taken("kept", 0))
		turns := w.log(k)
		w.update(func(tx store.Tx) error {
			for _, c := range []struct {
				what  string
				write func() error
				want  error
			}{
				{"version", func() error { return tx.Cortex().InsertVersion(w.ctx(), k.Tenant, segment, stale) }, cortex.ErrStale},
				{"epoch", func() error { return tx.Prompt().InsertEpoch(w.ctx(), k.Tenant, segment, opened(1, 2)) }, prompt.ErrStale},
				{"prompt", func() error { return tx.Prompt().InsertCall(w.ctx(), k.Tenant, segment, compiled(1, 2, 1)) }, prompt.ErrStale},
				{"pin", func() error { return tx.Prompt().InsertPin(w.ctx(), k.Tenant, segment, pin(1, 2, 2, true)) }, prompt.ErrStale},
				{"checkpoint", func() error { return tx.Compress().InsertCheckpoint(w.ctx(), k.Tenant, segment, compressed(1, 1, 2)) }, compress.ErrStale},
				{"snapshot", func() error { return tx.Snapshot().InsertSnapshot(w.ctx(), k.Tenant, segment, taken("kept", 2)) }, snapshot.ErrExists},
				{"no snapshot", func() error { return tx.Snapshot().DeleteSnapshot(w.ctx(), k.Tenant, segment, "lost") }, snapshot.ErrNotFound},
				{"export", func() error { return tx.Outbox().InsertExport(w.ctx(), e) }, event.ErrExists},
				{"turn", func() error {
					return tx.Log().InsertTurns(w.ctx(), k.Tenant, segment, turn.Row{Turn: turns[0], Encoded: turn.EncodedAs(`{"text":"x"}`)})
				}, turn.ErrConflict},
				{"status", func() error { return tx.Outbox().SetExportStatus(w.ctx(), k.Tenant, w.newID(), "failed") }, event.ErrNotFound},
			} {
				err := tx.Savepoint(w.ctx(), func() error {
					if err := mark(tx, "7-"+c.what); err != nil {
						return err
					}
					return c.write()
				})
				is(t, c.what, err, c.want)
			}
			return mark(tx, "8-after")
		})
		same(t, "marks", marks()[5:], []string{"8-after"})
		same(t, "last call", w.lastCall(k.Tenant, upTo(segment, 9), 9), compiled(1, 0, 1))
		same(t, "checkpoint", w.checkpoint(k.Tenant, upTo(segment, 9), 1, 1), compressed(1, 1, 0))
	})

	w.run("what one wrote is read inside and after it", func(t *testing.T) {
		read := func(tx store.Tx) {
			_, ok, err := tx.Scratch().Observation(w.ctx(), k.Tenant, segment, "9-seen")
			if !ok || err != nil {
				t.Errorf("%v, %v", ok, err)
			}
		}
		w.update(func(tx store.Tx) error {
			err := tx.Savepoint(w.ctx(), func() error {
				err := mark(tx, "9-seen")
				read(tx)
				return err
			})
			read(tx)
			return err
		})
	})

	w.run("calls after the commit are forgotten with what was undone", func(t *testing.T) {
		var calls []string
		call := func(tx store.Tx, name string) { tx.AfterCommit(func() { calls = append(calls, name) }) }
		w.update(func(tx store.Tx) error {
			call(tx, "before")
			is(t, "savepoint", tx.Savepoint(w.ctx(), func() error { call(tx, "undone"); return boom }), boom)
			err := tx.Savepoint(w.ctx(), func() error { call(tx, "kept"); return nil })
			call(tx, "after")
			return err
		})
		same(t, "calls", calls, []string{"before", "kept", "after"})
	})

	w.run("a context that ends inside ends the update", func(t *testing.T) {
		before := w.dump()
		ctx, cancel := context.WithCancel(w.ctx())
		defer cancel()
		err := w.Update(ctx, func(tx store.Tx) error {
			if err := mark(tx, "0-lost"); err != nil {
				return err
			}
			err := tx.Savepoint(ctx, func() error {
				err := mark(tx, "0-lost-too")
				cancel()
				return err
			})
			is(t, "savepoint", err, context.Canceled)
			return nil
		})
		is(t, "update", err, context.Canceled)
		same(t, "rows", w.dump(), before)
	})

	w.run("none inside another, in a view or after the end", func(t *testing.T) {
		before := w.dump()
		unwanted := func() error {
			t.Error("it ran")
			return nil
		}
		var kept store.Tx
		w.update(func(tx store.Tx) error {
			kept = tx
			return tx.Savepoint(w.ctx(), func() error {
				if err := tx.Savepoint(w.ctx(), unwanted); err == nil {
					t.Error("a savepoint was begun inside another")
				}
				return nil
			})
		})
		if err := kept.Savepoint(w.ctx(), unwanted); err == nil {
			t.Error("a savepoint was begun after the end")
		}
		is(t, "view", w.View(w.ctx(), func(tx store.Tx) error { return tx.Savepoint(w.ctx(), unwanted) }), store.ErrReadOnly)
		same(t, "rows", w.dump(), before)
	})
}
