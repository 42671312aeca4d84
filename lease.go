package turnstone

import (
	"context"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// Lease is the right to write an exchange to a session. It ends 15 seconds after it was last
// renewed; a write through a lease that was lost is refused with turn.ErrLeaseLost.
type Lease struct {
	session *Session
	token   string
}

// Acquire takes the session's lease and closes the calls that an earlier holder left open: each
// gets a synthetic cancelled result. A *[turn.LeaseHeldError] says that somebody else holds it.
func (s *Session) Acquire(ctx context.Context) (*Lease, error) {
	l := &Lease{session: s, token: s.engine.newID()}
	err := s.engine.store.Update(ctx, func(tx store.Tx) error { return s.take(ctx, tx, l.token) })
	if err != nil {
		return nil, err
	}
	return l, nil
}

// take acquires the lease inside an update and closes what was left open.
func (s *Session) take(ctx context.Context, tx store.Tx, token string) error {
	if _, err := turn.Acquire(ctx, tx.Log(), s.key, token, tx.Now()); err != nil {
		return err
	}
	closed, err := turn.CloseOpenCalls(ctx, tx.Log(), s.key, tx.Now(), s.engine.newID)
	s.afterCommit(tx, closed)
	return err
}

// Renew holds on to the lease for another 15 seconds.
func (l *Lease) Renew(ctx context.Context) error {
	s := l.session
	return s.engine.store.Update(ctx, func(tx store.Tx) error {
		_, err := turn.Renew(ctx, tx.Log(), s.key, l.token, tx.Now())
		return err
	})
}

// Release gives the lease back.
func (l *Lease) Release(ctx context.Context) error {
	s := l.session
	return s.engine.store.Update(ctx, func(tx store.Tx) error {
		return turn.Release(ctx, tx.Log(), s.key, l.token, tx.Now())
	})
}

// Append is [Session.Append] by the holder of the lease: the lease is checked in the same
// transaction as the write.
func (l *Lease) Append(ctx context.Context, drafts ...turn.Draft) ([]turn.Turn, error) {
	return l.session.append(ctx, drafts, func(tx store.Tx) error {
		return turn.CheckLease(ctx, tx.Log(), l.session.key, l.token, tx.Now())
	})
}

// Believe is [Session.Believe] by the holder of the lease.
func (l *Lease) Believe(ctx context.Context, change func(*dialogue.State) error) (dialogue.Revision, error) {
	return l.session.believe(ctx, change, func(tx store.Tx) error {
		return turn.CheckLease(ctx, tx.Log(), l.session.key, l.token, tx.Now())
	})
}
