package storetest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

func (w *world) bus() (name string) {
	w.Helper()
	w.view(func(tx store.Tx) (err error) {
		name, err = tx.Outbox().Bus(w.ctx())
		return err
	})
	return name
}

func (w *world) setBus(name string) {
	w.Helper()
	w.update(func(tx store.Tx) error { return tx.Outbox().SetBus(w.ctx(), name) })
}

// idle publishes for a bus that has nothing to publish.
func (w *world) idle(t *testing.T, bus string) {
	t.Helper()
	n, err := w.Publish(w.ctx(), 10, store.Publication{
		Bus:  bus,
		Send: func(context.Context, []event.Export) (int, error) { panic("send") },
		Note: func(context.Context, store.Tx, []event.Export) error { panic("note") },
	})
	if n != 0 || err != nil {
		t.Errorf("%q published %d, %v", bus, n, err)
	}
}

func testBuses(t *testing.T, open opener) {
	w := newWorld(t, open)
	info := w.create(w.key("s"))
	seq := int64(0)
	next := func() event.Export {
		seq += 2
		e := w.exported(info, seq-1, seq)
		w.export(e)
		return e
	}

	w.run("only the bus that is set publishes", func(t *testing.T) {
		same(t, "at first", w.bus(), "")
		a := next()
		w.idle(t, "nats")
		same(t, "inside", exportIDs(w.publish(10)), []string{a.ID})
		b := next()
		w.view(func(tx store.Tx) error {
			n, err := tx.Outbox().CountWaiting(w.ctx())
			same(t, "how many wait", n, int64(1))
			return err
		})
		for range 2 {
			w.setBus("nats")
		}
		same(t, "then", w.bus(), "nats")
		w.idle(t, "")
		w.idle(t, "nat")
		same(t, "outside", exportIDs(w.publishOn("nats", 10)), []string{b.ID})
		c := next()
		w.setBus("other")
		w.idle(t, "nats")
		same(t, "another outside", exportIDs(w.publishOn("other", 10)), []string{c.ID})
		d := next()
		for range 2 {
			w.setBus("")
		}
		same(t, "back", w.bus(), "")
		w.idle(t, "other")
		same(t, "inside again", exportIDs(w.publish(10)), []string{d.ID})
	})

	w.run("it is set with what else the update writes, or not at all", func(t *testing.T) {
		boom := errors.New("boom")
		err := w.Update(w.ctx(), func(tx store.Tx) error {
			if err := tx.Outbox().SetBus(w.ctx(), "nats"); err != nil {
				return err
			}
			name, err := tx.Outbox().Bus(w.ctx())
			same(t, "inside the update", name, "nats")
			return errors.Join(err, boom)
		})
		is(t, "update", err, boom)
		same(t, "after it", w.bus(), "")
		err = w.View(w.ctx(), func(tx store.Tx) error { return tx.Outbox().SetBus(w.ctx(), "nats") })
		is(t, "in a view", err, store.ErrReadOnly)
	})

	w.run("what one sends while another takes over is not noted, and sent again by that one", func(t *testing.T) {
		for _, change := range []struct{ from, to string }{{"", "nats"}, {"nats", ""}} {
			a := next()
			_, before := w.published(0, 0)
			n, err := w.Publish(w.ctx(), 10, store.Publication{
				Bus: change.from,
				Send: func(_ context.Context, exports []event.Export) (int, error) {
					w.setBus(change.to)
					return len(exports), nil
				},
				Note: func(_ context.Context, _ store.Tx, exports []event.Export) error {
					t.Errorf("%v were noted", exportIDs(exports))
					return nil
				},
			})
			is(t, "publish", err, store.ErrLocked)
			same(t, "how many", n, 0)
			none, _ := w.published(before, 10)
			same(t, "published", none, []event.Export(nil))
			w.idle(t, change.from)
			same(t, "the other's round", exportIDs(w.publishOn(change.to, 10)), []string{a.ID})
		}
	})

	w.run("the same one that is set again takes nothing from itself", func(t *testing.T) {
		a := next()
		n, err := w.Publish(w.ctx(), 10, store.Publication{Send: func(_ context.Context, exports []event.Export) (int, error) {
			w.setBus("")
			return len(exports), nil
		}})
		if n != 1 || err != nil {
			t.Errorf("published %d of %s, %v", n, a.ID, err)
		}
	})
}

// testSharedBuses has one publisher on each store, and then another bus, while both are written to.
func testSharedBuses(t *testing.T, a, b *world) {
	const each = 40
	inside, outside := newReceiver(t), newReceiver(t)
	sent := make(map[string]bool) // what left for the outside
	took := make(chan struct{})
	var work sync.WaitGroup
	written := make(chan struct{})
	var writers sync.WaitGroup
	for i, w := range []*world{a, b} {
		info := w.create(w.key([]string{"one", "two"}[i]))
		writers.Go(func() {
			for n := range int64(each) {
				e := w.exported(info, 2*n+1, 2*n+2)
				if err := w.Update(w.ctx(), func(tx store.Tx) error { return tx.Outbox().InsertExport(w.ctx(), e) }); err != nil {
					t.Errorf("export: %v", err)
				}
				if n == each/2 {
					<-took
				}
			}
		})
		work.Go(func() {
			for last := false; !last; {
				select {
				case <-written:
					last = true
				default:
				}
				if _, err := w.Publish(w.ctx(), 3, store.Publication{Send: inside.send}); err != nil && !errors.Is(err, store.ErrLocked) {
					t.Errorf("publish: %v", err)
				}
			}
		})
	}
	var through int64
	err := b.Update(b.ctx(), func(tx store.Tx) (err error) {
		if err = tx.Outbox().SetBus(b.ctx(), "nats"); err == nil {
			through, err = tx.Outbox().LastPublished(b.ctx())
		}
		return err
	})
	if err != nil {
		t.Fatalf("take over: %v", err)
	}
	close(took)
	writers.Wait()
	close(written)
	work.Wait()
	for late := time.After(30 * time.Second); ; {
		n, err := a.Publish(a.ctx(), 10, store.Publication{Bus: "nats", Send: outside.send})
		if err != nil {
			t.Fatalf("publish outside: %v", err)
		}
		if n == 0 {
			break
		}
		select {
		case <-late:
			t.Fatal("it does not end")
		default:
		}
	}
	for _, ids := range outside.came {
		for _, id := range ids {
			sent[id] = true
		}
	}
	all, _ := a.published(0, 1000)
	if len(all) != 2*each {
		t.Errorf("%d of %d are published", len(all), 2*each)
	}
	last := make(map[turn.Key]int64)
	for _, e := range all {
		if after := e.Sent > through; after != sent[e.ID] {
			t.Errorf("number %d, with %d at the change: sent outside %v", e.Sent, through, sent[e.ID])
		}
		key := turn.Key{Tenant: e.Tenant, Session: e.Session}
		if e.Last < last[key] {
			t.Errorf("session %s: turns up to %d are published after those up to %d", e.Session, e.Last, last[key])
		}
		last[key] = e.Last
	}
}
