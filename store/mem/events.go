package mem

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/ids"
)

// InsertEvent implements [event.EventRows].
func (r outboxRows) InsertEvent(ctx context.Context, e event.Event) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	key := rowKey{e.Tenant, e.ID}
	if _, there := r.data.events[key]; !there {
		e.Place = 0
		put(r.tx, r.data.events, key, e)
	}
	return nil
}

// Events implements [event.EventRows].
func (r outboxRows) Events(ctx context.Context, tenant, session string, after int64, limit int) ([]event.Event, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	var placed, unplaced []event.Event
	for _, e := range r.data.events {
		switch {
		case e.Tenant != tenant || session != "" && e.Session != session:
		case e.Place == 0:
			unplaced = append(unplaced, e)
		case e.Place > after:
			placed = append(placed, e)
		}
	}
	slices.SortFunc(placed, func(a, b event.Event) int { return cmp.Compare(a.Place, b.Place) })
	slices.SortFunc(unplaced, compareEvents)
	found := append(placed, unplaced...)
	return found[:max(0, min(limit, len(found)))], nil
}

func compareEvents(a, b event.Event) int { return cmp.Compare(a.ID, b.ID) }

// PlaceEvents implements [event.EventRows]. Updates come one after the other.
func (r outboxRows) PlaceEvents(ctx context.Context, tenant string) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	var unplaced []event.Event
	for _, e := range r.data.events {
		if e.Tenant == tenant && e.Place == 0 {
			unplaced = append(unplaced, e)
		}
	}
	slices.SortFunc(unplaced, compareEvents)
	last := r.data.places[tenant]
	for _, e := range unplaced {
		last++
		e.Place = last
		put(r.tx, r.data.events, rowKey{e.Tenant, e.ID}, e)
	}
	if len(unplaced) > 0 {
		put(r.tx, r.data.places, tenant, last)
	}
	return nil
}

// SweepEvents implements [event.EventRows].
func (r outboxRows) SweepEvents(ctx context.Context, tenant string, before time.Time, limit int) (int64, error) {
	if err := r.writing(ctx); err != nil {
		return 0, err
	}
	var due []event.Event
	floor := ids.Floor(before)
	for _, e := range r.data.events {
		if e.Tenant == tenant && e.ID < floor && e.At.Before(before) && e.Kind != event.Forgotten && (e.Place == 0 || e.Place < r.data.places[tenant]) {
			due = append(due, e)
		}
	}
	slices.SortFunc(due, compareEvents)
	due = due[:max(0, min(limit, len(due)))]
	for _, e := range due {
		remove(r.tx, r.data.events, rowKey{e.Tenant, e.ID})
	}
	return int64(len(due)), nil
}

// LastPlace implements [event.EventRows].
func (r outboxRows) LastPlace(ctx context.Context, tenant string) (int64, error) {
	if err := r.reading(ctx); err != nil {
		return 0, err
	}
	return r.data.places[tenant], nil
}
