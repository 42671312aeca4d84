package turnstone

import (
	"context"
	"errors"
	"fmt"

	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// changeTries is how often a change of the prompt that somebody asked for is made anew because others changed it
// meanwhile, before it is said that they do.
const changeTries = 8

// alone makes a change that may not come into the middle of an exchange, again if others changed the prompt meanwhile.
// It waits until the session's floor is free in this process, as exchanges do. Those of other engines are met by their
// lease: the change must see to it with atRest where it reads what it goes by, and with inPassing where it writes. An
// exchange that was left by somebody who died is recovered before.
func (s *Session) alone(ctx context.Context, change func(context.Context) error) error {
	ctx, leave, err := s.engine.shared.floors.take(ctx, s.key)
	if err != nil {
		return err
	}
	defer leave()
	if err := s.recoverBefore(ctx); err != nil {
		return err
	}
	err = prompt.ErrStale
	for n := 0; n < changeTries && errors.Is(err, prompt.ErrStale) && !errors.Is(err, errReplan); n++ {
		err = change(ctx)
	}
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
		err = fmt.Errorf("%w: %w", err, cause)
	}
	return busy(err)
}

// recoverBefore recovers the exchange that was left, if one was: what was flushed of its reply belongs to its question.
func (s *Session) recoverBefore(ctx context.Context) error {
	var left bool
	err := s.view(ctx, func(tx store.Tx, _ turn.SessionInfo) (err error) {
		_, left, err = tx.Log().Exchange(ctx, s.key)
		return err
	})
	if err != nil || !left {
		return err
	}
	l, err := s.Acquire(ctx)
	if err != nil {
		return err
	}
	return l.giveBack(ctx)
}

// atRest refuses to go by what is read while an exchange is under way, with a *[turn.LeaseHeldError].
func (s *Session) atRest(ctx context.Context, tx store.Tx) error {
	held, err := tx.Log().Lease(ctx, s.key)
	if err != nil {
		return fmt.Errorf("lease of %s: %w", s.key.Session, err)
	}
	if held.Token != "" && held.Until.After(tx.Now()) {
		return &turn.LeaseHeldError{Session: s.key.Session, Until: held.Until}
	}
	return nil
}

// inPassing holds the lease for one update: it is refused where somebody else has it, and a crash leaves none behind.
func (s *Session) inPassing(ctx context.Context, tx store.Tx) error {
	token := s.engine.newID()
	if _, err := turn.Acquire(ctx, tx.Log(), s.key, token, tx.Now()); err != nil {
		return err
	}
	return turn.Release(ctx, tx.Log(), s.key, token)
}

// contended makes an ErrBusy of a prompt that others changed again and again.
func contended(err error) error {
	if errors.Is(err, prompt.ErrStale) && !errors.Is(err, ErrBusy) {
		return busyError{fmt.Errorf("others keep changing the prompt of the session; try again when they rest: %w", err)}
	}
	return err
}
