package turnstone

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// endTries is how often End writes a bundle anew because a turn came in meanwhile.
const endTries = 5

// End closes calls left open, writes the session's bundle and its session document where folders for them
// are configured, marks the session as ended and forgets its follow-up context. It returns the bundle's path, empty
// where none is made. Appending to an ended session reopens it, with the event session-reopened. An exchange of this engine is waited for, until ctx
// ends, so that what it runs must not wait for End. [ErrBusy] says that turns kept coming or, with a
// *[turn.LeaseHeldError] in it, that a worker of another engine is at work.
func (s *Session) End(ctx context.Context) (bundle string, err error) {
	return s.end(ctx, func(turn.SessionInfo) bool { return true })
}

// EndIdle ends every session of the tenant that has rested for the configured time, and returns
// their ids. Sessions that somebody holds are left alone. One that cannot be ended does not keep the
// others; the error names all of those.
func (e *Engine) EndIdle(ctx context.Context) (ended []string, err error) {
	idle, since, err := e.idle(ctx)
	if err != nil {
		return nil, fmt.Errorf("idle sessions: %w", err)
	}
	for _, info := range idle {
		if e.shared.floors.held(info.Key) {
			continue
		}
		s := &Session{engine: e, key: info.Key}
		_, ferr := s.end(ctx, func(now turn.SessionInfo) bool {
			return now.Status == turn.Active && !now.LastActivity.After(since)
		})
		var held *turn.LeaseHeldError
		switch {
		case ferr == nil:
			ended = append(ended, info.Session)
		case errors.As(ferr, &held), errors.Is(ferr, ErrBusy):
		default:
			err = errors.Join(err, ferr)
		}
	}
	return ended, err
}

func (e *Engine) idle(ctx context.Context) (idle []turn.SessionInfo, since time.Time, err error) {
	err = e.store.View(ctx, func(tx store.Tx) error {
		idle, since = nil, tx.Now().Add(-e.config.IdleAfter)
		f := turn.SessionFilter{Tenant: e.config.Tenant, Status: turn.Active, IdleSince: since, Limit: 1000}
		for {
			page, err := tx.Log().Sessions(ctx, f)
			idle = append(idle, page...)
			if err != nil || len(page) < f.Limit {
				return err
			}
			f.Before = page[len(page)-1].Segment
		}
	})
	return idle, since, err
}

// end ends the session if it is as wanted when its open calls are closed. The bundle is written between two updates and
// without a lease, however long it takes. It comes before the mark: a crash in between leaves a
// session that will be ended again, never one that ended without its bundle.
func (s *Session) end(ctx context.Context, wanted func(turn.SessionInfo) bool) (bundle string, err error) {
	for range endTries {
		if err := s.settle(ctx, wanted); err != nil {
			return "", err
		}
		if err := s.noteFiles(ctx); err != nil {
			return "", err
		}
		bundle, head, err := s.keepBundle(ctx)
		if err != nil {
			return "", err
		}
		if err := s.keepHistory(ctx); err != nil {
			return "", err
		}
		ended, err := s.markEnded(ctx, head, wanted)
		if err != nil {
			return "", err
		}
		if !ended {
			continue
		}
		// The follow-up context goes with the session, and never fails what it goes with: where it
		// cannot be cleared it runs out by itself.
		key := dialogue.LightKey{Tenant: s.key.Tenant, Session: s.key.Session}
		if err := s.engine.store.Light().Clear(ctx, key); err != nil && ctx.Err() != nil {
			return "", ctx.Err()
		}
		return bundle, nil
	}
	return "", fmt.Errorf("end %s: %w", s.key.Session, ErrBusy)
}

// settle closes the calls and the exchange that were left open. Nobody holds the lease then, and nobody gets it.
func (s *Session) settle(ctx context.Context, wanted func(turn.SessionInfo) bool) error {
	ctx, leave, err := s.engine.shared.floors.take(ctx, s.key)
	if err != nil {
		return fmt.Errorf("end %s: %w", s.key.Session, err)
	}
	defer leave()
	l := &Lease{session: s, token: s.engine.newID()}
	var left *turn.OpenExchange
	err = s.update(ctx, func(tx store.Tx, info turn.SessionInfo) (err error) {
		if !wanted(info) {
			return fmt.Errorf("end %s: %w", s.key.Session, ErrBusy)
		}
		if left, err = s.take(ctx, tx, l.token); err != nil || left != nil {
			return err
		}
		return turn.Release(ctx, tx.Log(), s.key, l.token)
	})
	if err != nil || left == nil {
		return busy(err)
	}
	return errors.Join(s.recover(ctx, l.token, *left), l.giveBack(ctx))
}

// markEnded marks the session as ended if it still stands at head, is as wanted and nobody is at work on it.
func (s *Session) markEnded(ctx context.Context, head int64, wanted func(turn.SessionInfo) bool) (ended bool, err error) {
	ctx, leave, err := s.engine.shared.floors.take(ctx, s.key)
	if err != nil {
		return false, fmt.Errorf("end %s: %w", s.key.Session, err)
	}
	defer leave()
	token := s.engine.newID()
	err = s.update(ctx, func(tx store.Tx, info turn.SessionInfo) error {
		if ended = info.Head == head; !ended {
			return nil
		}
		if !wanted(info) {
			return ErrBusy // somebody else was faster
		}
		if _, err := turn.Acquire(ctx, tx.Log(), s.key, token, tx.Now()); err != nil {
			return err
		}
		if err := turn.Release(ctx, tx.Log(), s.key, token); err != nil {
			return err
		}
		info.Status = turn.Ended
		if err := tx.Log().UpdateSession(ctx, info); err != nil {
			return err
		}
		return s.announce(ctx, tx, event.SessionEnded, "{}")
	})
	if err != nil {
		return false, busy(fmt.Errorf("end %s: %w", s.key.Session, err))
	}
	return ended, nil
}
