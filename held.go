package turnstone

import (
	"context"
	"errors"
	"time"

	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// lookEvery is how often a lease that somebody holds is looked at: twice as often as a reply under way is flushed.
const lookEvery = flushEvery / 2

// holder is what shows whether who holds a session's lease is alive: one that is renews it, and flushes its reply.
type holder struct {
	lease   turn.Lease
	changed time.Time // when its exchange was written last
	now     time.Time
}

// free reports whether anybody may take the lease.
func (h *holder) free() bool { return h.lease.Token == "" || !h.lease.Until.After(h.now) }

// alive reports whether something was written between two looks.
func (h *holder) alive(earlier *holder) bool {
	return h.lease.Token != earlier.lease.Token || !h.lease.Until.Equal(earlier.lease.Until) || !h.changed.Equal(earlier.changed)
}

// holder looks at who holds the lease.
func (s *Session) holder(ctx context.Context) (h holder, err error) {
	err = s.view(ctx, func(tx store.Tx, _ turn.SessionInfo) error {
		var err error
		if h.lease, err = tx.Log().Lease(ctx, s.key); err != nil {
			return err
		}
		e, _, err := tx.Log().Exchange(ctx, s.key)
		h.changed, h.now = e.Changed, tx.Now()
		return err
	})
	return h, err
}

// patient runs something that takes the lease. Where another holds it, who may have died, it waits until the lease has
// run out and runs it again, for one [turn.LeaseTime] at most: a holder that gives a sign of life is not waited for, and
// leaves the *[turn.LeaseHeldError] as it is.
func (s *Session) patient(ctx context.Context, take func() error) error {
	err := take()
	var held *turn.LeaseHeldError
	if !errors.As(err, &held) {
		return err
	}
	first, verr := s.holder(ctx)
	if verr != nil {
		return errors.Join(err, verr)
	}
	// The store's clock may stand still.
	enough := time.NewTimer(turn.LeaseTime + lookEvery)
	defer enough.Stop()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for now := first; ; {
		if now.free() {
			return take() // which somebody else may have done first
		}
		select {
		case <-ctx.Done():
			return errors.Join(llm.Ended(ctx), err)
		case <-enough.C:
			return err
		case <-tick.C:
		}
		if now, verr = s.holder(ctx); verr != nil {
			return errors.Join(err, verr)
		}
		if !now.free() && now.alive(&first) {
			return err
		}
	}
}

// Rest waits until nobody speaks in the session, as an exchange does that goes on from [Head]: one of this process to its end, and one
// of another as long as it may have died. An [ErrBusy] says that another process speaks.
func (s *Session) Rest(ctx context.Context) error {
	ctx, leave, err := s.engine.shared.floors.take(ctx, s.key)
	if err != nil {
		return err
	}
	defer leave()
	return busy(s.patient(ctx, func() error {
		return s.view(ctx, func(tx store.Tx, _ turn.SessionInfo) error { return s.atRest(ctx, tx) })
	}))
}
