package storetest

import (
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
)

// happened makes an event. It is safe for concurrent use.
func (w *world) happened(session string, kind event.Kind, turnID string) event.Event {
	return event.Event{ID: w.newID(), Tenant: w.tenant, Session: session, Kind: kind, TurnID: turnID, Data: `{"why":"東京"}`, At: noon}
}

// announced adds events in an update of their own. It is safe for concurrent use.
func (w *world) announced(events ...event.Event) error {
	return w.Update(w.ctx(), func(tx store.Tx) error {
		for _, e := range events {
			if err := tx.Outbox().InsertEvent(w.ctx(), e); err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *world) announce(events ...event.Event) {
	w.Helper()
	if err := w.announced(events...); err != nil {
		w.Fatal(err)
	}
}

func (w *world) place(tenant string) {
	w.Helper()
	w.update(func(tx store.Tx) error { return tx.Outbox().PlaceEvents(w.ctx(), tenant) })
}

func (w *world) events(tenant, session string, after int64, limit int) (events []event.Event) {
	w.Helper()
	w.view(func(tx store.Tx) (err error) {
		events, err = tx.Outbox().Events(w.ctx(), tenant, session, after, limit)
		return err
	})
	return events
}

func (w *world) lastPlace(tenant string) (last int64) {
	w.Helper()
	w.view(func(tx store.Tx) (err error) {
		last, err = tx.Outbox().LastPlace(w.ctx(), tenant)
		return err
	})
	return last
}

func placed(e event.Event, place int64) event.Event {
	e.Place = place
	return e
}

func testEvents(t *testing.T, w *world) {
	none := []event.Event(nil)
	a := w.happened("one", event.SessionEnded, "")
	b := w.happened("two", event.CommitEscalated, w.newID())
	c := w.happened("one", event.CommitEscalated, w.newID())
	d, e := w.happened("two", event.SessionEnded, ""), w.happened("one", event.SessionEnded, "")
	other := w.happened("one", event.SessionEnded, "")
	other.Tenant = "other-events"
	boasting := c
	boasting.Place = 77
	w.announce(boasting, other, b)

	w.run("without a place they come by id, whatever was asked for", func(t *testing.T) {
		same(t, "all", w.events(w.tenant, "", 0, 10), []event.Event{b, c})
		same(t, "after a place", w.events(w.tenant, "", 99, 10), []event.Event{b, c})
		same(t, "one", w.events(w.tenant, "", 0, 1), []event.Event{b})
		same(t, "no room", len(w.events(w.tenant, "", 0, 0)), 0)
		same(t, "last", w.lastPlace(w.tenant), int64(0))
	})

	w.run("places are given by id to those who have none", func(t *testing.T) {
		w.place(w.tenant)
		b, c = placed(b, 1), placed(c, 2)
		w.announce(e, a)
		same(t, "all", w.events(w.tenant, "", 0, 10), []event.Event{b, c, a, e})
		w.place(w.tenant)
		w.place(w.tenant)
		a, e = placed(a, 3), placed(e, 4)
		same(t, "last", w.lastPlace(w.tenant), int64(4))
		w.announce(d)
		same(t, "all", w.events(w.tenant, "", 0, 10), []event.Event{b, c, a, e, d})
		same(t, "three", w.events(w.tenant, "", 0, 3), []event.Event{b, c, a})
		same(t, "after the second", w.events(w.tenant, "", 2, 2), []event.Event{a, e})
		same(t, "after the last", w.events(w.tenant, "", 4, 10), []event.Event{d})
		w.place(w.tenant)
		d = placed(d, 5)
		same(t, "after all", w.events(w.tenant, "", 5, 10), none)
	})

	w.run("of one session or tenant", func(t *testing.T) {
		same(t, "one", w.events(w.tenant, "one", 0, 10), []event.Event{c, a, e})
		same(t, "one, page by page", w.events(w.tenant, "one", 2, 1), []event.Event{a})
		same(t, "unknown session", w.events(w.tenant, "three", 0, 10), none)
		same(t, "other tenant", w.events(other.Tenant, "", 0, 10), []event.Event{other})
		same(t, "last of the other", w.lastPlace(other.Tenant), int64(0))
		w.place(other.Tenant)
		same(t, "other tenant, placed", w.events(other.Tenant, "", 0, 10), []event.Event{placed(other, 1)})
	})

	w.run("an event that is there stays as it is", func(t *testing.T) {
		again := b
		again.Data, again.At, again.Session = `{}`, noon.Add(time.Hour), "one"
		w.announce(again)
		same(t, "all", w.events(w.tenant, "", 0, 10), []event.Event{b, c, a, e, d})
	})

	w.run("the place of one that was forgotten is not given again", func(t *testing.T) {
		w.update(func(tx store.Tx) error {
			_, err := tx.Forgetting().Rewrite(w.ctx(), w.tenant, "events", store.Among{Sessions: []string{"two"}}, func([]any) (store.Verdict, error) {
				return store.Delete, nil
			})
			return err
		})
		after := w.happened("one", event.Forgotten, "")
		w.announce(after)
		same(t, "last", w.lastPlace(w.tenant), int64(5))
		w.place(w.tenant)
		same(t, "all", w.events(w.tenant, "", 0, 10), []event.Event{c, a, e, placed(after, 6)})
	})
}
