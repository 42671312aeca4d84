package sqlite

import (
	"context"
	"errors"
)

var errNested = errors.New("a savepoint is begun inside of another; end that one first")

// errAgain says that the update has to be run again, with savepoints.
var errAgain = errors.New("the update is run again; return from it")

// Savepoint implements [store.Tx]. It lies inside of the savepoint that the update may have as one of
// several in a transaction.
//
// Where the transaction has no savepoints (see commitRound) and fn fails, the update ends here, by a panic
// that update.call knows: nothing it could still do would stay.
func (t *tx) Savepoint(ctx context.Context, fn func() error) (err error) {
	if err := t.writing(ctx); err != nil {
		return err
	}
	if t.saved {
		return errNested
	}
	if t.savepoints {
		if err := t.c.Prepare(`SAVEPOINT target`).Run(); err != nil {
			return t.fail(err)
		}
	}
	t.saved = true
	after, changes := len(t.after), t.c.TotalChanges()
	returned := false
	defer func() {
		t.saved = false
		if returned && err == nil {
			return
		}
		t.after, t.tail = t.after[:after], nil
		// Deferred, so that what fn wrote is undone also where it panics.
		if undoErr := t.undo(changes); undoErr != nil && returned && !errors.Is(err, undoErr) {
			err = errors.Join(err, undoErr)
		}
		if returned && t.lost == errAgain {
			panic(errAgain)
		}
	}()
	err = fn()
	if err == nil {
		// fn may have gone on after the transaction was lost.
		err = t.reading(ctx)
	}
	if err == nil && t.savepoints {
		err = t.fail(t.c.Prepare(`RELEASE target`).Run())
	}
	returned = true
	return err
}

// undo takes back what was written since the savepoint was begun, after so many changes. Where the whole transaction was lost
// there is nothing left to take back, and nothing may follow: the error says so.
func (t *tx) undo(changes int64) error {
	if t.lost != nil {
		return t.lost
	}
	if !t.savepoints {
		if t.c.TotalChanges() != changes {
			t.lost = errAgain
		}
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
