package storetest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

func exportIDs(exports []event.Export) []string {
	var ids []string
	for _, e := range exports {
		ids = append(ids, e.ID)
	}
	return ids
}

// bodiless returns exports without their bodies, which they must have had.
func bodiless(exports []event.Export) []event.Export {
	exports = slices.Clone(exports)
	for i := range exports {
		if exports[i].Body == "" {
			panic("export " + exports[i].ID + " has no body to begin with")
		}
		exports[i].Body = ""
	}
	return exports
}

// sending sends everything and remembers it.
func sending(to *[]event.Export) func(context.Context, []event.Export) (int, error) {
	return func(_ context.Context, exports []event.Export) (int, error) {
		*to = append(*to, exports...)
		return len(exports), nil
	}
}

func testPublish(t *testing.T, open opener) {
	w := newWorld(t, open)
	one, two := w.create(w.key("one")), w.create(turn.Key{Tenant: "zoo", Session: "two"})
	boom := errors.New("boom")
	seq := int64(0)
	next := func(s turn.SessionInfo) event.Export {
		seq += 2
		return w.exported(s, seq-1, seq)
	}

	w.run("without anything to publish nothing is called", func(t *testing.T) {
		never := store.Publication{
			Send: func(context.Context, []event.Export) (int, error) { panic("send") },
			Note: func(context.Context, store.Tx, []event.Export) error { panic("note") },
		}
		n, err := w.Publish(w.ctx(), 10, never)
		if n != 0 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		w.export(next(one))
		if n, err := w.Publish(w.ctx(), 0, never); n != 0 || err != nil {
			t.Errorf("none of one: %d, %v", n, err)
		}
		w.publish(10)
		if n, err := w.Publish(w.ctx(), 10, never); n != 0 || err != nil {
			t.Errorf("all published: %d, %v", n, err)
		}
	})

	w.run("a session's exports are sent in the order of their turns, whole and as they are", func(t *testing.T) {
		a, b, c, d := next(one), next(one), next(two), next(one)
		d.ID, a.ID = a.ID, d.ID // ids are of several clocks
		w.export(d, b, c, a)
		var sent []event.Export
		for _, limit := range []int{1, 2, 10} {
			if _, err := w.Publish(w.ctx(), limit, store.Publication{Bodies: true, Send: sending(&sent)}); err != nil {
				t.Fatal(err)
			}
		}
		var ours, theirs []event.Export
		for _, e := range sent {
			if e.Tenant == one.Tenant {
				ours = append(ours, e)
			} else {
				theirs = append(theirs, e)
			}
		}
		same(t, "ours", ours, []event.Export{a, b, d})
		same(t, "theirs", theirs, []event.Export{c})
	})

	w.run("of exports with the same last turn the older comes first", func(t *testing.T) {
		a, b := next(one), next(one)
		a.Last, a.At = b.Last, b.At.Add(time.Microsecond)
		w.export(a, b)
		same(t, "sent", exportIDs(w.publish(10)), []string{b.ID, a.ID})
		c, d := next(one), next(one)
		c.Last, c.At = d.Last, d.At
		w.export(d, c)
		same(t, "of the same time", exportIDs(w.publish(10)), []string{c.ID, d.ID})
	})

	w.run("bodies are left out where they are not asked for", func(t *testing.T) {
		a, b, c := next(one), next(one), next(two)
		w.export(b, a, c) // one of them has to be put in order
		var sent []event.Export
		for range 3 {
			if _, err := w.Publish(w.ctx(), 1, store.Publication{Send: sending(&sent)}); err != nil {
				t.Fatal(err)
			}
		}
		bySession := func(x, y event.Export) int {
			return cmp.Or(cmp.Compare(x.Tenant, y.Tenant), cmp.Compare(x.Last, y.Last))
		}
		slices.SortStableFunc(sent, bySession)
		want := bodiless([]event.Export{a, b, c})
		slices.SortStableFunc(want, bySession)
		same(t, "sent", sent, want)
	})

	w.run("what was sent is noted, the rest comes again", func(t *testing.T) {
		a, b, c := next(one), next(one), next(one)
		w.export(a, b, c)
		_, before := w.published(0, 0)
		var noted []event.Export
		n, err := w.Publish(w.ctx(), 10, store.Publication{
			Send: func(_ context.Context, exports []event.Export) (int, error) {
				same(t, "to be sent", exportIDs(exports), exportIDs([]event.Export{a, b, c}))
				return 2, boom
			},
			Note: func(_ context.Context, _ store.Tx, exports []event.Export) error {
				noted = exports
				return nil
			},
		})
		is(t, "publish", err, boom)
		same(t, "how many", n, 2)
		same(t, "noted", exportIDs(noted), exportIDs([]event.Export{a, b}))
		published, _ := w.published(before, 10)
		same(t, "published", bodiless(published), noted)
		same(t, "the next round", exportIDs(w.publish(10)), []string{c.ID})
	})

	w.run("nothing sent, nothing noted", func(t *testing.T) {
		a := next(one)
		w.export(a)
		n, err := w.Publish(w.ctx(), 10, store.Publication{
			Send: func(context.Context, []event.Export) (int, error) { return 0, boom },
			Note: func(context.Context, store.Tx, []event.Export) error { panic("note") },
		})
		is(t, "publish", err, boom)
		same(t, "how many", n, 0)
		same(t, "the next round", exportIDs(w.publish(10)), []string{a.ID})
	})

	w.run("what is noted and what is written about it is one update", func(t *testing.T) {
		a := next(one)
		w.export(a)
		part := trace.Part{TurnID: a.TurnID, Segment: a.Segment, ID: w.newID(), At: noon, Body: `{"sent":true}`}
		note := func(fail error) func(context.Context, store.Tx, []event.Export) error {
			return func(ctx context.Context, tx store.Tx, exports []event.Export) error {
				e, err := tx.Outbox().Export(ctx, a.Tenant, a.ID)
				if err != nil {
					return err
				}
				same(t, "inside the update", bodiless([]event.Export{e}), exports)
				return errors.Join(tx.Trace().InsertParts(ctx, a.Tenant, part), fail)
			}
		}
		var sent []event.Export
		_, before := w.published(0, 0)
		n, err := w.Publish(w.ctx(), 10, store.Publication{Send: sending(&sent), Note: note(boom)})
		is(t, "publish", err, boom)
		same(t, "how many", n, 0)
		same(t, "parts", w.parts(a.Tenant, a.TurnID), []trace.Part(nil))
		published, _ := w.published(before, 10)
		same(t, "published", published, []event.Export(nil))
		if n, err = w.Publish(w.ctx(), 10, store.Publication{Send: sending(&sent), Note: note(nil)}); n != 1 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		same(t, "sent again under the same id", exportIDs(sent), []string{a.ID, a.ID})
		same(t, "parts", w.parts(a.Tenant, a.TurnID), []trace.Part{part})
	})

	w.run("writers do not wait for what is being sent, and theirs comes next", func(t *testing.T) {
		a, b, c := next(one), next(one), next(two)
		w.export(a)
		ctx, cancel := context.WithTimeout(w.ctx(), 20*time.Second)
		defer cancel()
		n, err := w.Publish(ctx, 10, store.Publication{Send: func(_ context.Context, exports []event.Export) (int, error) {
			same(t, "to be sent", exportIDs(exports), []string{a.ID})
			return len(exports), w.Update(ctx, func(tx store.Tx) error {
				info, err := tx.Log().LockSession(ctx, one.Key)
				if err != nil {
					return err
				}
				return errors.Join(
					tx.Log().Advance(ctx, one.Key, info.Head, tx.Now()),
					tx.Outbox().SetExportStatus(ctx, a.Tenant, a.ID, "complete_with_errors"),
					tx.Outbox().InsertExport(ctx, b), tx.Outbox().InsertExport(ctx, c))
			})
		}})
		if n != 1 || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
		w.view(func(tx store.Tx) error {
			e, err := tx.Outbox().Export(w.ctx(), a.Tenant, a.ID)
			same(t, "a status that was set meanwhile", e.Status, "complete_with_errors")
			return err
		})
		var sent []event.Export
		if n, err := w.Publish(w.ctx(), 10, store.Publication{Send: sending(&sent)}); n != 2 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	})

	w.run("what was sent is noted though the context ended", func(t *testing.T) {
		a := next(one)
		w.export(a)
		_, before := w.published(0, 0)
		ctx, cancel := context.WithCancel(w.ctx())
		defer cancel()
		n, err := w.Publish(ctx, 10, store.Publication{
			Send: func(ctx context.Context, exports []event.Export) (int, error) {
				cancel()
				return len(exports), ctx.Err()
			},
			Note: func(ctx context.Context, tx store.Tx, exports []event.Export) error {
				_, err := tx.Outbox().LastPublished(ctx)
				return err
			},
		})
		is(t, "publish", err, context.Canceled)
		same(t, "how many", n, 1)
		published, _ := w.published(before, 10)
		same(t, "published", exportIDs(published), []string{a.ID})
		if n, err := w.Publish(ctx, 10, store.Publication{}); n != 0 || !errors.Is(err, context.Canceled) {
			t.Errorf("with a context that is over: %d, %v", n, err)
		}
	})

	w.run("a panic of sending reaches the caller and the next round sends it", func(t *testing.T) {
		a := next(one)
		w.export(a)
		func() {
			defer func() {
				if got := recover(); got != "send" {
					t.Errorf("recovered %v, want what was thrown", got)
				}
			}()
			n, err := w.Publish(w.ctx(), 10, store.Publication{Send: func(context.Context, []event.Export) (int, error) { panic("send") }})
			t.Errorf("publish returned %d, %v instead of panicking", n, err)
		}()
		same(t, "the next round", exportIDs(w.publish(10)), []string{a.ID})
	})
}
