package turnstone

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// recover ends an exchange that somebody left, by who holds the lease now: what was flushed of its reply becomes one
// turn that is marked as interrupted, and the exchange is committed as interrupted, under the id that it had from the
// beginning and in the update that removes its row, so that it happens once whoever does it.
func (s *Session) recover(ctx context.Context, token string, left turn.OpenExchange) error {
	again, err := s.triedAgain(ctx, left)
	if err != nil {
		return fmt.Errorf("recover %s: %w", s.key.Session, err)
	}
	reply, err := said(left)
	if err == nil {
		_, err = s.seal(reply)
	}
	if err != nil {
		// Nothing was said that a turn could hold, and the session must go on.
		reply = nil
	}
	l := &Lease{session: s, token: token}
	ex := commit.Exchange{
		ExportID: left.ExportID, Opened: left.Opened, Turns: reply, Interrupted: true, Started: left.Started, Again: again,
		Within: func(ctx context.Context, tx store.Tx) error { return tx.Log().DeleteExchange(ctx, s.key) },
	}
	if err != nil {
		ex.Warnings = []string{"what there was of the reply is no turn: " + shown(err)}
	}
	res, err := l.commit(ctx, ex)
	if err == nil && !res.Repeated {
		return nil
	}
	if errors.Is(err, turn.ErrLeaseLost) || passing(err) || ctx.Err() != nil {
		// It stays as it was left, for who comes next.
		return fmt.Errorf("recover %s: %w", s.key.Session, err)
	}
	// What cannot be committed, since its input is gone or somebody committed it already, is at least closed.
	if err := s.close(ctx, token, reply); err != nil {
		return fmt.Errorf("recover %s: %w", s.key.Session, err)
	}
	return nil
}

// triedAgain reports whether an exchange that was left had been committed before it began, without a reply; see
// [RelayOptions].Again. One that was committed since is not tried again by that.
func (s *Session) triedAgain(ctx context.Context, left turn.OpenExchange) (again bool, err error) {
	err = s.engine.store.View(ctx, func(tx store.Tx) error {
		exports, err := tx.Outbox().ExportsOf(ctx, s.key.Tenant, left.Opened)
		again = false
		for _, e := range exports {
			if e.Session != s.key.Session {
				continue
			}
			if again = !e.At.After(left.Started); !again {
				break
			}
		}
		return err
	})
	return again, err
}

// commitTries is how often an exchange is committed that the store had no time for, and commitPause how long the first
// pause between two tries is; each is twice the one before.
const (
	commitTries = 5
	commitPause = 100 * time.Millisecond
)

// commit is Commit that tries again where the same may well succeed a moment later: an exchange has an id of its own, so
// that it is committed once.
func (l *Lease) commit(ctx context.Context, ex commit.Exchange) (res commit.Result, err error) {
	pause := commitPause
	for try := 1; ; try++ {
		res, err = l.Commit(ctx, ex)
		ex.Log = nil // it may be committed by now
		if !passing(err) || try == commitTries || ctx.Err() != nil {
			return res, err
		}
		select {
		case <-time.After(pause):
			pause *= 2
		case <-ctx.Done():
			return res, err
		}
	}
}

// said is the reply of an exchange as far as it was flushed, none where nothing was.
func said(e turn.OpenExchange) ([]turn.Draft, error) {
	if e.Content == "" {
		return nil, nil
	}
	content, err := turn.DecodeContent(turn.Agent, turn.FormText, e.Content)
	if err != nil {
		return nil, err
	}
	return []turn.Draft{{
		ID: e.Reply, Role: turn.Agent, Content: content, Meta: turn.Meta{Model: e.Model, Interrupted: true},
	}}, nil
}

// close ends an exchange without a commit: what was said is in the log, calls have results, and its row is gone.
func (s *Session) close(ctx context.Context, token string, reply []turn.Draft) error {
	sealed, err := s.seal(reply)
	if err != nil {
		return err
	}
	return s.engine.store.Update(ctx, func(tx store.Tx) error {
		if err := turn.CheckLease(ctx, tx.Log(), s.key, token); err != nil {
			return err
		}
		turns, err := turn.CloseOpenCalls(ctx, tx.Log(), s.key, tx.Now(), s.engine.newID)
		if err != nil {
			return err
		}
		last, err := s.missing(ctx, tx, reply, sealed)
		if err != nil {
			return err
		}
		s.afterCommit(tx, append(turns, last...))
		return tx.Log().DeleteExchange(ctx, s.key)
	})
}

// missing appends those of the sealed drafts that are not in the log yet.
func (s *Session) missing(ctx context.Context, tx store.Tx, drafts []turn.Draft, sealed []turn.Sealed) ([]turn.Turn, error) {
	var left []turn.Sealed
	for i, d := range drafts {
		stored, err := tx.Log().TurnsByID(ctx, s.key.Tenant, d.ID)
		if err != nil {
			return nil, err
		}
		if len(stored) == 0 {
			left = append(left, sealed[i])
		}
	}
	return turn.Append(ctx, tx.Log(), s.key, tx.Now(), left...)
}

// Recover ends the exchanges that were left by processes that died, of all tenants, and returns how many: what had come of
// their replies is kept. Nobody needs to call it: it is done in the background every few seconds, and before anything is said
// to the session. A server does it before it takes requests, so that nothing is appended in front of such a reply.
func (e *Engine) Recover(ctx context.Context) (int64, error) { return e.shared.recoverLeft(ctx) }

// recoverLeft recovers the exchanges that were left by a process that died, of all tenants: nobody may ever ask for that
// one's again here.
func (e *Engine) recoverLeft(ctx context.Context) (recovered int64, err error) {
	var left []turn.Key
	err = e.store.View(ctx, func(tx store.Tx) error {
		left = nil
		for after := (turn.Key{}); ; after = left[len(left)-1] {
			page, err := tx.Log().LeftExchanges(ctx, after, tx.Now(), sweepAtOnce)
			if left = append(left, page...); err != nil || len(page) < sweepAtOnce {
				return err
			}
		}
	})
	if err != nil {
		return 0, err
	}
	var failed []error
	for _, key := range left {
		switch done, err := (&Session{engine: e, key: key}).recoverNow(ctx); {
		case done && err == nil:
			recovered++
		case err == nil, errors.Is(err, ErrBusy): // somebody was faster
		default:
			failed = append(failed, err)
		}
	}
	return recovered, errors.Join(failed...)
}

// recoverNow takes the lease for as long as it takes to recover what was left, and reports whether there was anything. Who
// came first has recovered it, and may have left calls open that a client runs now: then nothing is touched.
func (s *Session) recoverNow(ctx context.Context) (recovered bool, err error) {
	ctx, leave, err := s.engine.shared.floors.takeFree(ctx, s.key)
	if err != nil || leave == nil {
		return false, err // who is at work on it here recovers it, and is not waited for
	}
	defer leave()
	l := &Lease{session: s, token: s.engine.newID()}
	var left turn.OpenExchange
	err = s.engine.store.Update(ctx, func(tx store.Tx) error {
		if _, err := turn.Acquire(ctx, tx.Log(), s.key, l.token, tx.Now()); err != nil {
			return err
		}
		// Nobody else writes it from here on.
		if left, recovered, err = tx.Log().Exchange(ctx, s.key); err != nil {
			return err
		}
		if !recovered {
			return turn.Release(ctx, tx.Log(), s.key, l.token)
		}
		return s.closeCalls(ctx, tx)
	})
	if err != nil || !recovered {
		return false, busy(err)
	}
	return true, errors.Join(s.recover(ctx, l.token, left), l.giveBack(ctx))
}
