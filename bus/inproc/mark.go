package inproc

import (
	"context"
	"errors"
	"time"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
)

// errLost says that somebody else holds the daemon's mark, or nobody: it was removed.
var errLost = errors.New("the daemon's mark is held by another")

// claim takes the mark where it is free and makes one for a daemon nobody knows.
func (d *daemon) claim(ctx context.Context) error {
	free := false
	err := d.bus.store.View(ctx, func(tx store.Tx) error {
		m, ok, err := tx.Outbox().Mark(ctx, d.name)
		free = !ok || d.mayHold(m, tx.Now())
		return err
	})
	if err != nil || !free {
		return err
	}
	held, known, through, began := false, false, int64(0), time.Now()
	err = d.bus.store.Update(ctx, func(tx store.Tx) error {
		held = false
		m, ok, err := tx.Outbox().Mark(ctx, d.name)
		if err != nil {
			return err
		}
		if known = ok; !ok {
			m = event.Mark{Daemon: d.name}
			if d.options.From == bus.New {
				if m.Through, err = tx.Outbox().LastPublished(ctx); err != nil {
					return err
				}
			}
		} else if !d.mayHold(m, tx.Now()) {
			return nil
		}
		m.Holder, m.Until = d.holder, tx.Now().Add(d.bus.cfg.Lease)
		held, through = true, m.Through
		return tx.Outbox().PutMark(ctx, m)
	})
	if err == nil && held {
		d.held, d.known, d.through, d.renewed = true, known, through, began
	}
	return err
}

func (d *daemon) mayHold(m event.Mark, now time.Time) bool {
	return m.Holder == "" || m.Holder == d.holder || !now.Before(m.Until)
}

// advance moves the mark to through, if that is further, and renews the lease.
func (d *daemon) advance(ctx context.Context, through int64) error {
	return d.change(ctx, func(tx store.Tx, m *event.Mark) error {
		m.Through = max(m.Through, through)
		m.Until = tx.Now().Add(d.bus.cfg.Lease)
		return nil
	})
}

// release lets go of the mark, so that who stands by need not wait.
func (d *daemon) release(ctx context.Context) error {
	return d.change(ctx, func(_ store.Tx, m *event.Mark) error {
		m.Holder, m.Until = "", time.Time{}
		return nil
	})
}

// change changes the mark. It is errLost where the daemon no longer holds it.
func (d *daemon) change(ctx context.Context, f func(store.Tx, *event.Mark) error) error {
	return d.bus.store.Update(ctx, func(tx store.Tx) error {
		m, ok, err := tx.Outbox().Mark(ctx, d.name)
		if err != nil {
			return err
		}
		if !ok || m.Holder != d.holder {
			return errLost
		}
		if err := f(tx, &m); err != nil {
			return err
		}
		return tx.Outbox().PutMark(ctx, m)
	})
}
