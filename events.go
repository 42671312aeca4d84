package turnstone

import (
	"context"
	"errors"
	"slices"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
)

// Events returns up to limit of what was announced behind a cursor, in the order in which it can be read; of one
// session if its id is not empty. The empty cursor is the beginning; to go on, give the [event.Event.Cursor] of the last
// event. Whoever goes on like that misses nothing and is given nothing twice, however many engines announce at
// once, and in the same order whenever it is asked for. The error is an *event.FieldError for what is not a cursor. Events
// are kept for 90 days, receipts of what was forgotten for good.
//
// The first to read an event gives it its place, which is an update. Where the store cannot be written to, events that
// nobody read before come last and have no cursor.
func (e *Engine) Events(ctx context.Context, session, after string, limit int) (list []event.Event, err error) {
	place, err := event.ParseCursor(after)
	if err != nil {
		return nil, err
	}
	read := func(tx store.Tx) (err error) {
		list, err = tx.Outbox().Events(ctx, e.config.Tenant, session, place, limit)
		return err
	}
	if err := e.store.View(ctx, read); err != nil || !slices.ContainsFunc(list, unplaced) {
		return list, err
	}
	fresh := list
	err = e.store.Update(ctx, func(tx store.Tx) error {
		if err := tx.Outbox().PlaceEvents(ctx, e.config.Tenant); err != nil {
			return err
		}
		return read(tx)
	})
	if errors.Is(err, store.ErrReadOnly) {
		return fresh, nil
	}
	// What became visible in the middle of the update is placed by the next one.
	return slices.DeleteFunc(list, unplaced), err
}

func unplaced(e event.Event) bool { return e.Place == 0 }

// LastEvent returns the cursor behind everything that was announced so far, from where on [Engine.Events] has only
// what is announced later; empty where nothing was.
func (e *Engine) LastEvent(ctx context.Context) (cursor string, err error) {
	var last event.Event
	read := func(tx store.Tx) (waiting bool, err error) {
		if last.Place, err = tx.Outbox().LastPlace(ctx, e.config.Tenant); err != nil {
			return false, err
		}
		rest, err := tx.Outbox().Events(ctx, e.config.Tenant, "", last.Place, 1)
		return len(rest) > 0, err
	}
	var waiting bool
	err = e.store.View(ctx, func(tx store.Tx) (err error) {
		waiting, err = read(tx)
		return err
	})
	if err != nil || !waiting {
		return last.Cursor(), err
	}
	err = e.store.Update(ctx, func(tx store.Tx) error {
		if err := tx.Outbox().PlaceEvents(ctx, e.config.Tenant); err != nil {
			return err
		}
		_, err := read(tx)
		return err
	})
	if errors.Is(err, store.ErrReadOnly) {
		err = nil
	}
	return last.Cursor(), err
}
