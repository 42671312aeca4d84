package storetest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// exported is a new export of a session about turns first to last.
func (w *world) exported(s turn.SessionInfo, first, last int64) event.Export {
	id := w.newID()
	return event.Export{
		Tenant: s.Tenant, Session: s.Session, Segment: s.Segment, ID: id, TurnID: w.newID(), First: first, Last: last,
		Status: "complete", Body: `{"export_id":"` + id + `","city":"東京"}`, At: noon.Add(time.Duration(last) * time.Second),
	}
}

func (w *world) export(exports ...event.Export) {
	w.Helper()
	w.update(func(tx store.Tx) error {
		for _, e := range exports {
			if err := tx.Outbox().InsertExport(w.ctx(), e); err != nil {
				return err
			}
		}
		return nil
	})
}

// publish sends up to limit exports to nowhere and returns them as they are then.
func (w *world) publish(limit int) []event.Export { return w.publishOn("", limit) }

// publishOn is publish for a bus.
func (w *world) publishOn(bus string, limit int) []event.Export {
	w.Helper()
	_, before := w.published(0, 0)
	var noted []event.Export
	n, err := w.Publish(w.ctx(), limit, store.Publication{
		Bus:  bus,
		Send: func(_ context.Context, exports []event.Export) (int, error) { return len(exports), nil },
		Note: func(_ context.Context, _ store.Tx, exports []event.Export) error {
			noted = exports
			return nil
		},
	})
	if err != nil || n != len(noted) {
		w.Fatalf("publish: %d of %d, %v", n, len(noted), err)
	}
	exports, _ := w.published(before, n)
	same(w, "noted", exportIDs(noted), exportIDs(exports))
	return exports
}

// published returns what was published after a number, and the last number given.
func (w *world) published(after int64, limit int) (exports []event.Export, last int64) {
	w.Helper()
	w.view(func(tx store.Tx) (err error) {
		if exports, err = tx.Outbox().Published(w.ctx(), after, limit); err != nil {
			return err
		}
		last, err = tx.Outbox().LastPublished(w.ctx())
		return err
	})
	return exports, last
}

func testExports(t *testing.T, open opener) {
	w := newWorld(t, open)
	one, two := w.create(w.key("one")), w.create(turn.Key{Tenant: "zoo", Session: "two"})
	a, b, c := w.exported(one, 1, 2), w.exported(one, 3, 5), w.exported(two, 1, 2)
	b.Body = `{"long":"` + strings.Repeat("x", 1<<20) + `"}`
	read := func(tenant, id string) (e event.Export, err error) {
		err = w.View(w.ctx(), func(tx store.Tx) (err error) {
			e, err = tx.Outbox().Export(w.ctx(), tenant, id)
			return err
		})
		return e, err
	}

	w.run("nothing is published at first", func(t *testing.T) {
		exports, last := w.published(0, 10)
		same(t, "published", exports, []event.Export(nil))
		same(t, "last number", last, int64(0))
	})

	w.run("an export is kept as it was given, once", func(t *testing.T) {
		w.export(a, b, c)
		for _, want := range []event.Export{a, b, c} {
			got, err := read(want.Tenant, want.ID)
			if err != nil {
				t.Error(err)
			}
			same(t, "export", got, want)
		}
		_, err := read(one.Tenant, c.ID)
		is(t, "other tenant's", err, event.ErrNotFound)
	})

	w.run("a second one of its id is refused, and the update may go on", func(t *testing.T) {
		again, fresh := a, w.exported(one, 6, 6)
		again.Body, again.Status = `{}`, "failed"
		w.update(func(tx store.Tx) error {
			is(t, "taken id", tx.Outbox().InsertExport(w.ctx(), again), event.ErrExists)
			return tx.Outbox().InsertExport(w.ctx(), fresh)
		})
		for _, want := range []event.Export{a, fresh} {
			got, err := read(one.Tenant, want.ID)
			if err != nil {
				t.Error(err)
			}
			same(t, "export", got, want)
		}
		theirs := a
		theirs.Tenant, theirs.Segment = two.Tenant, two.Segment
		w.export(theirs)
	})

	w.run("exports are found by the turn that opened the exchange, by id", func(t *testing.T) {
		copied := w.exported(one, 1, 2)
		copied.TurnID = b.TurnID
		w.export(copied)
		of := func(tenant, turnID string) (exports []event.Export) {
			w.view(func(tx store.Tx) (err error) {
				exports, err = tx.Outbox().ExportsOf(w.ctx(), tenant, turnID)
				return err
			})
			return exports
		}
		same(t, "one", of(a.Tenant, a.TurnID), []event.Export{a})
		same(t, "two", of(b.Tenant, b.TurnID), []event.Export{b, copied})
		same(t, "other tenant", of("nobody", b.TurnID), []event.Export(nil))
		same(t, "unknown turn", of(b.Tenant, w.newID()), []event.Export(nil))
	})

	w.run("its status can change, nothing else", func(t *testing.T) {
		set := func(tenant, id string) error {
			return w.Update(w.ctx(), func(tx store.Tx) error {
				return tx.Outbox().SetExportStatus(w.ctx(), tenant, id, "complete_with_errors")
			})
		}
		if err := set(c.Tenant, c.ID); err != nil {
			t.Fatal(err)
		}
		c.Status = "complete_with_errors"
		got, err := read(c.Tenant, c.ID)
		if err != nil {
			t.Error(err)
		}
		same(t, "export", got, c)
		is(t, "unknown", set(c.Tenant, w.newID()), event.ErrNotFound)
		is(t, "other tenant's", set("nobody", c.ID), event.ErrNotFound)
	})

	w.run("published ones are numbered and come in that order, of all tenants", func(t *testing.T) {
		first := w.publish(2)
		rest := w.publish(100)
		all := append(first, rest...)
		if len(first) != 2 || len(all) != 6 {
			t.Fatalf("%d and %d published, want 2 and 4", len(first), len(rest))
		}
		for i := 1; i < len(all); i++ {
			if all[i].Sent <= all[i-1].Sent || all[0].Sent < 1 {
				t.Errorf("number %d follows %d", all[i].Sent, all[i-1].Sent)
			}
		}
		got, last := w.published(0, 100)
		same(t, "all", got, all)
		same(t, "last number", last, all[5].Sent)
		got, _ = w.published(all[1].Sent, 3)
		same(t, "a page", got, all[2:5])
		got, _ = w.published(last, 3)
		same(t, "after the last", got, []event.Export(nil))
		e, err := read(all[3].Tenant, all[3].ID)
		if err != nil {
			t.Error(err)
		}
		same(t, "read again", e, all[3])
	})

	w.run("a tenant has its own in that order", func(t *testing.T) {
		all, _ := w.published(0, 100)
		of := func(tenant string, after int64, limit int) (exports []event.Export) {
			w.view(func(tx store.Tx) (err error) {
				exports, err = tx.Outbox().PublishedOf(w.ctx(), tenant, after, limit)
				return err
			})
			return exports
		}
		waiting := w.exported(two, 11, 12)
		w.export(waiting)
		for _, tenant := range []string{one.Tenant, two.Tenant, "nobody"} {
			var own []event.Export
			for _, e := range all {
				if e.Tenant == tenant {
					own = append(own, e)
				}
			}
			same(t, "all of "+tenant, of(tenant, 0, 100), own)
			for i := range own {
				same(t, "a page of "+tenant, of(tenant, own[i].Sent, 2), own[i+1:min(i+3, len(own))])
			}
			same(t, "none of "+tenant, of(tenant, 0, 0), []event.Export(nil))
		}
		same(t, "what waited", exportIDs(w.publish(1)), []string{waiting.ID})
		same(t, "the last of theirs", exportIDs(of(two.Tenant, all[len(all)-1].Sent, 9)), []string{waiting.ID})
	})

	w.run("numbers go on", func(t *testing.T) {
		_, before := w.published(0, 0)
		w.export(w.exported(one, 7, 9))
		noted := w.publish(1)
		if len(noted) != 1 || noted[0].Sent <= before {
			t.Errorf("after %d: %+v", before, noted)
		}
	})
}
