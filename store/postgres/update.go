package postgres

import (
	"cmp"
	"context"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/store"
)

const (
	firstPause = 5 * time.Millisecond
	maxPause   = 500 * time.Millisecond
	// commitTimeout bounds the wait for a COMMIT. It is long because the answer is worth a lot.
	commitTimeout = 30 * time.Second
)

// View implements [store.Store]. A connection that breaks before the first answer is replaced; one
// that breaks later ends the view with store.ErrUnavailable.
func (s *Store) View(ctx context.Context, fn func(store.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.enter(); err != nil {
		return err
	}
	defer s.running.Done()
	return s.view(ctx, func(t *tx) error { return fn(t) })
}

func (s *Store) view(ctx context.Context, fn func(*tx) error) error {
	t := &tx{store: s, ctx: ctx}
	t.later("", `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`)
	s.setClock(t)
	// The transaction wrote nothing: a rollback ends it as well as a commit.
	defer t.rollback()
	err := fn(t)
	return cmp.Or(err, t.failed)
}

// Update implements [store.Store]. When the transaction is lost before its COMMIT was sent, fn is
// run again on another connection, for [Config.RetryFor]; after that the error is
// store.ErrUnavailable, or store.ErrLocked where other transactions stood in the way. When the
// connection breaks during the COMMIT the error is store.ErrUnknown, at once.
func (s *Store) Update(ctx context.Context, fn func(store.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.enter(); err != nil {
		return err
	}
	defer s.running.Done()
	return s.update(ctx, func(t *tx) error { return fn(t) })
}

func (s *Store) update(ctx context.Context, fn func(*tx) error) error {
	return s.retry(ctx, func() (again bool, err error) {
		t, err := s.begin(ctx)
		if err != nil {
			return t.lost, err
		}
		committed, err := t.run(fn)
		if !committed {
			return t.lost, err
		}
		t.committed()
		return false, nil
	})
}

// committed does what waited for the transaction to be durable.
func (t *tx) committed() {
	t.store.index.note(t.written)
	for _, f := range t.after {
		f()
	}
}

// begin takes a connection for an update and begins the transaction, with the database's time in
// the same round trip. Where the time comes from elsewhere, BEGIN waits for the first statement.
// On an error the transaction is over and its lost says whether to try again.
func (s *Store) begin(ctx context.Context) (*tx, error) {
	t := &tx{store: s, ctx: ctx, writable: true}
	c, err := s.pool.acquire(ctx)
	if err != nil {
		return t, t.fail(ctx, err)
	}
	t.conn = c
	t.later("", `BEGIN ISOLATION LEVEL READ COMMITTED`)
	if s.setClock(t); t.now.IsZero() {
		if err := t.readClock(ctx); err != nil {
			t.rollback()
			return t, err
		}
	}
	return t, nil
}

func (s *Store) setClock(t *tx) {
	if s.config.Clock != nil {
		t.now = s.config.Clock().UTC().Truncate(time.Microsecond)
	}
}

// run calls fn and commits. When it does not come that far, by an error, a panic or the end of the
// goroutine, the transaction is rolled back.
func (t *tx) run(fn func(*tx) error) (committed bool, err error) {
	over := false
	defer func() {
		if !over {
			t.rollback()
		}
	}()
	err = fn(t)
	if t.failed != nil && (t.lost || err == nil) {
		err = t.failed
	}
	if cancelled := t.ctx.Err(); cancelled != nil {
		t.lost, err = false, cancelled
	}
	if err != nil {
		return false, err
	}
	over = true
	err = t.commit()
	return err == nil, err
}

// bare runs statements on a connection outside a transaction, again from the first where the
// connection breaks.
func (s *Store) bare(ctx context.Context, fn func(*pgx.Conn) error) error {
	var broken error
	err := s.retry(ctx, func() (again bool, err error) {
		c, err := s.pool.acquire(ctx)
		if err != nil {
			broken = err
			return lost(err, false), err
		}
		defer s.pool.release(c)
		if err = fn(c.Conn); err == nil || !lost(err, c.IsClosed()) {
			return false, err
		}
		broken = err
		s.pool.lost(c)
		return true, err
	})
	switch cancelled := ctx.Err(); {
	case err == nil:
		return nil
	case cancelled != nil:
		return cancelled
	case err == broken:
		return unavailable(s.address, err)
	}
	return explain(s.address, err)
}

// retry calls once until it says not to try again or the time for that is over.
func (s *Store) retry(ctx context.Context, once func() (again bool, err error)) error {
	end := time.Now().Add(s.config.RetryFor)
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		again, err := once()
		if !again || time.Now().After(end) {
			return err
		}
		// Everybody whose connection broke comes back, but not at the same moment.
		wait := time.NewTimer(pause/2 + rand.N(pause))
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return ctx.Err()
		}
	}
}
