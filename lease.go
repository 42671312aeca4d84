package turnstone

import (
	"context"
	"errors"
	"fmt"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// Lease is the right to write an exchange to a session. From 15 seconds after it was last renewed on another may take it;
// a write through a lease that was taken is refused with turn.ErrLeaseLost.
type Lease struct {
	session *Session
	token   string
}

// Acquire takes the session's lease and closes what an earlier holder left open: a call gets a synthetic cancelled
// result, and an exchange in the middle of its reply is committed as interrupted, with what was said of the reply
// as a turn. An [ErrBusy], with a *[turn.LeaseHeldError] in it, says that somebody else holds the lease.
func (s *Session) Acquire(ctx context.Context) (*Lease, error) {
	l := &Lease{session: s, token: s.engine.newID()}
	var left *turn.OpenExchange
	err := s.engine.store.Update(ctx, func(tx store.Tx) (err error) {
		left, err = s.take(ctx, tx, l.token)
		return err
	})
	if err != nil {
		return nil, busy(err)
	}
	if left == nil {
		return l, nil
	}
	if err := s.recover(ctx, l.token, *left); err != nil {
		return nil, errors.Join(err, l.giveBack(ctx))
	}
	return l, nil
}

// take acquires the lease inside an update and closes the calls that were left open. An exchange that was left is
// returned: the caller must recover it before anything else is written.
func (s *Session) take(ctx context.Context, tx store.Tx, token string) (left *turn.OpenExchange, err error) {
	if _, err := turn.Acquire(ctx, tx.Log(), s.key, token, tx.Now()); err != nil {
		return nil, err
	}
	if err := s.closeCalls(ctx, tx); err != nil {
		return nil, err
	}
	e, ok, err := tx.Log().Exchange(ctx, s.key)
	if err != nil {
		return nil, fmt.Errorf("exchange of %s: %w", s.key.Session, err)
	}
	if ok {
		left = &e
	}
	return left, nil
}

// closeCalls closes the calls that were left open, in an update of who has the lease.
func (s *Session) closeCalls(ctx context.Context, tx store.Tx) error {
	closed, err := turn.CloseOpenCalls(ctx, tx.Log(), s.key, tx.Now(), s.engine.newID)
	if err != nil {
		return err
	}
	s.afterCommit(tx, closed)
	return nil
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
		return turn.Release(ctx, tx.Log(), s.key, l.token)
	})
}

// giveBack is Release also where ctx has ended: nobody should have to wait until the lease runs out.
func (l *Lease) giveBack(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWait)
	defer cancel()
	return l.Release(ctx)
}

// Append is [Session.Append] by the holder of the lease: the lease is checked in the same
// transaction as the write.
func (l *Lease) Append(ctx context.Context, drafts ...turn.Draft) ([]turn.Turn, error) {
	done, err := l.session.append(ctx, drafts, func(tx store.Tx) error {
		return turn.CheckLease(ctx, tx.Log(), l.session.key, l.token)
	})
	return done.Turns, err
}

// Believe is [Session.Believe] by the holder of the lease.
func (l *Lease) Believe(ctx context.Context, change func(*dialogue.State) error) (dialogue.Revision, error) {
	return l.session.believe(ctx, change, func(tx store.Tx) error {
		return turn.CheckLease(ctx, tx.Log(), l.session.key, l.token)
	})
}
