package storetest

import (
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
)

func testEvents(t *testing.T, w *world) {
	list := func(tenant, session, after string, limit int) (events []event.Event) {
		w.view(func(tx store.Tx) (err error) {
			events, err = tx.Outbox().Events(w.ctx(), tenant, session, after, limit)
			return err
		})
		return events
	}
	announce := func(events ...event.Event) {
		w.update(func(tx store.Tx) error {
			for _, e := range events {
				if err := tx.Outbox().InsertEvent(w.ctx(), e); err != nil {
					return err
				}
			}
			return nil
		})
	}
	happened := func(session string, kind event.Kind, turnID string) event.Event {
		return event.Event{ID: w.newID(), Tenant: w.tenant, Session: session, Kind: kind, TurnID: turnID, Data: `{"why":"東京"}`, At: noon}
	}
	a := happened("one", event.SessionEnded, "")
	b := happened("two", event.CommitEscalated, w.newID())
	c := happened("one", event.CommitEscalated, w.newID())
	other := happened("one", event.SessionEnded, "")
	other.Tenant = "other-events"
	announce(c, a, other, b)

	w.run("they come by id, from a cursor on, up to a limit", func(t *testing.T) {
		same(t, "all", list(w.tenant, "", "", 10), []event.Event{a, b, c})
		same(t, "two", list(w.tenant, "", "", 2), []event.Event{a, b})
		same(t, "after the first", list(w.tenant, "", a.ID, 10), []event.Event{b, c})
		same(t, "after the last", list(w.tenant, "", c.ID, 10), []event.Event(nil))
	})

	w.run("of one session or tenant", func(t *testing.T) {
		same(t, "one", list(w.tenant, "one", "", 10), []event.Event{a, c})
		same(t, "one, page by page", list(w.tenant, "one", a.ID, 1), []event.Event{c})
		same(t, "unknown session", list(w.tenant, "three", "", 10), []event.Event(nil))
		same(t, "other tenant", list(other.Tenant, "", "", 10), []event.Event{other})
	})

	w.run("an event that is there stays as it is", func(t *testing.T) {
		again := b
		again.Data, again.At, again.Session = `{}`, noon.Add(time.Hour), "one"
		announce(again)
		same(t, "all", list(w.tenant, "", "", 10), []event.Event{a, b, c})
	})
}
