package postgres_test

import (
	"errors"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/pgtest"
	"github.com/turnstone-dev/turnstone/internal/pgtest/pgstore"
	"github.com/turnstone-dev/turnstone/internal/turngen"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/postgres"
)

// Events from before they had places are given them, in the order of their ids.
func TestEventsOfTheSixthVersion(t *testing.T) {
	alone(t)
	address := pgtest.URL(t)
	admin := connect(t, address)
	ofVersion(t, admin, 6)
	execute(t, admin, `INSERT INTO events VALUES ('default', 'b', 's', 'undone', NULL, '{}', 0), ('default', 'a', 's', 'undone', NULL, '{}', 0)`)
	s := open(t, address, postgres.Config{})
	err := s.Update(t.Context(), func(tx store.Tx) error {
		if err := tx.Outbox().PlaceEvents(t.Context(), "default"); err != nil {
			return err
		}
		events, err := tx.Outbox().Events(t.Context(), "default", "s", 0, 9)
		if len(events) != 2 || events[0].ID != "a" || events[0].Place != 1 || events[1].Place != 2 {
			t.Errorf("events %+v", events)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// An event that is swept in the moment in which it is given a place leaves a gap: no other is given a place twice for it.
func TestNoPlaceIsGivenTwiceBesideASweep(t *testing.T) {
	alone(t)
	address := pgstore.URL(t)
	s := open(t, address, postgres.Config{})
	admin := connect(t, address)
	long := time.UnixMicro(0).UTC()
	announce := func(tx store.Tx, id string, at time.Time) error {
		return tx.Outbox().InsertEvent(t.Context(), event.Event{ID: id, Tenant: "default", Session: "s", Kind: event.Undone, Data: "{}", At: at})
	}
	place := func(tx store.Tx) error { return tx.Outbox().PlaceEvents(t.Context(), "default") }
	update := func(f func(store.Tx) error) {
		t.Helper()
		if err := s.Update(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	update(func(tx store.Tx) error {
		return errors.Join(announce(tx, turngen.ID(1), long), announce(tx, turngen.ID(2), tx.Now()))
	})
	placed := make(chan error, 1)
	update(func(tx store.Tx) error {
		if n, err := tx.Outbox().SweepEvents(t.Context(), "default", tx.Now().AddDate(0, 0, -1), 9); err != nil || n != 1 {
			t.Errorf("swept %d, %v", n, err)
		}
		go func() { placed <- s.Update(t.Context(), place) }()
		await(t, admin, 1, `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'UPDATE events SET place%'`)
		return nil
	})
	if err := <-placed; err != nil {
		t.Fatal(err)
	}
	update(func(tx store.Tx) error { return errors.Join(announce(tx, turngen.ID(3), tx.Now()), place(tx)) })
	err := s.View(t.Context(), func(tx store.Tx) error {
		events, err := tx.Outbox().Events(t.Context(), "default", "", 0, 9)
		if len(events) != 2 || events[0].ID != turngen.ID(2) || events[0].Place >= events[1].Place {
			t.Errorf("events %+v: whoever has read the first does not get the second", events)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
