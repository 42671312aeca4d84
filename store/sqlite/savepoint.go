package sqlite

import (
	"context"
	"errors"
)

var errNested = errors.New("a savepoint is begun inside of another; end that one first")

// Savepoint implements [store.Tx]. It lies inside of the savepoint that the update may have as one of
// several in a transaction.
func (t *tx) Savepoint(ctx context.Context, fn func() error) (err error) {
	if err := t.writing(ctx); err != nil {
		return err
	}
	if t.saved {
		return errNested
	}
	if err := t.c.Prepare(`SAVEPOINT target`).Run(); err != nil {
		return t.fail(err)
	}
	t.saved = true
	after := len(t.after)
	returned := false
	defer func() {
		t.saved = false
		if returned && err == nil {
			return
		}
		t.after = t.after[:after]
		// Deferred, so that what fn wrote is undone also where it panics.
		if undoErr := t.undo(); undoErr != nil && returned && !errors.Is(err, undoErr) {
			err = errors.Join(err, undoErr)
		}
	}()
	err = fn()
	if err == nil {
		// fn may have gone on after the transaction was lost.
		err = t.reading(ctx)
	}
	if err == nil {
		err = t.fail(t.c.Prepare(`RELEASE target`).Run())
	}
	returned = true
	return err
}

// undo takes back what was written since the savepoint was begun. Where the whole transaction was lost
// there is nothing left to take back, and nothing may follow: the error says so.
func (t *tx) undo() error {
	if t.lost != nil {
		return t.lost
	}
	err := t.c.Prepare(`ROLLBACK TO target`).Run()
	if err == nil {
		err = t.c.Prepare(`RELEASE target`).Run()
	}
	if err != nil && t.lost == nil {
		// Half of what fn wrote must not be committed with the rest.
		t.lost = t.s.translate(err)
	}
	return t.lost
}
