package postgres

import (
	"cmp"
	"context"
	"errors"
)

const (
	beginSavepoint = `SAVEPOINT part`
	endSavepoint   = `RELEASE SAVEPOINT part`
	undoSavepoint  = `ROLLBACK TO SAVEPOINT part; RELEASE SAVEPOINT part`
)

var errNested = errors.New("savepoint inside a savepoint; end the first one before the next")

// moment is what a transaction knew when a savepoint began.
type moment struct {
	queued, after, written int
	locks                  []sessionLock
}

// Savepoint implements [store.Tx]. What fn left in the queue is sent before it ends, so that an error of
// it is still inside. A statement from before that turns out to be wrong ends the transaction, and so
// does what took it away through no fault of its own: then the whole update is run again.
func (t *tx) Savepoint(ctx context.Context, fn func() error) error {
	if err := t.writing(ctx); err != nil {
		return err
	}
	if t.saving {
		return errNested
	}
	before := t.moment()
	t.saving, t.saved = true, false
	t.later("", beginSavepoint)
	kept := false
	// A panic goes on from here, and so does the end of the goroutine.
	defer func() {
		t.saving = false
		if !kept {
			t.undo(ctx, before)
		}
	}()
	err := fn()
	if err == nil {
		err = t.flush(ctx, before)
	}
	kept = err == nil
	return err
}

func (t *tx) moment() moment {
	m := moment{queued: len(t.queue), after: len(t.after), written: len(t.written), locks: make([]sessionLock, len(t.locks))}
	for i, l := range t.locks {
		m.locks[i] = *l
	}
	return m
}

// flush ends a savepoint that is to be kept. Only what was not sent yet is worth a round trip.
func (t *tx) flush(ctx context.Context, before moment) error {
	if err := t.usable(ctx); err != nil {
		return err
	}
	switch {
	case t.saved && len(t.queue) == 0:
		t.later("", endSavepoint)
	case !t.saved && len(t.queue) == before.queued+1:
		t.queue = t.queue[:before.queued] // nothing was asked of the database
	default:
		_, err := t.exec(ctx, endSavepoint)
		return err
	}
	return nil
}

// undo goes back to the savepoint, unless the transaction is over anyway. The locks of rows that were
// taken since are given back by that, and with them what they promised.
func (t *tx) undo(ctx context.Context, before moment) {
	t.failed = cmp.Or(t.failed, ended(t.ctx, ctx))
	if t.lost || t.conn.IsClosed() || ended(t.ctx, ctx) != nil || t.failed != nil && !t.saved {
		return
	}
	t.after, t.written = t.after[:before.after], t.written[:before.written]
	t.locks = t.locks[:0]
	for _, l := range before.locks {
		t.locks = append(t.locks, &l)
	}
	if !t.saved {
		t.queue = t.queue[:before.queued]
		return
	}
	t.queue, t.failed = nil, nil
	if _, err := t.conn.Exec(ctx, undoSavepoint); err != nil {
		t.failed = t.fail(ctx, err)
	}
}
