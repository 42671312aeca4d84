package turnstone

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// escalate escalates the reminders of all tenants that were sent a day ago and that nobody answered. Each session is an
// update of its own, so that one which cannot be read keeps no other from it, and nobody waits for more than his own.
func (s *shared) escalate(ctx context.Context) (escalated int64, err error) {
	var failed []error
	for {
		var due []cortex.Due
		var now time.Time
		err := s.store.View(ctx, func(tx store.Tx) (err error) {
			now = tx.Now()
			due, err = tx.Cortex().DueReminders(ctx, now, sweepAtOnce)
			return err
		})
		if err != nil {
			return escalated, errors.Join(append(failed, err)...)
		}
		ids := make(map[turn.Key][]string)
		for _, d := range due {
			key := turn.Key{Tenant: d.Tenant, Session: d.Session}
			ids[key] = append(ids[key], d.ID)
		}
		for key, ids := range ids {
			n, err := s.pipeline.Escalate(ctx, key, ids)
			if escalated += n; err == nil {
				continue
			}
			failed = append(failed, fmt.Errorf("reminders of %s: %w", key.Session, err))
			if passing(err) || ctx.Err() != nil {
				return escalated, errors.Join(failed...)
			}
			if err := s.lookLater(ctx, key, ids, now); err != nil {
				return escalated, errors.Join(append(failed, err)...)
			}
		}
		if len(due) < sweepAtOnce {
			return escalated, errors.Join(failed...)
		}
	}
}

// lookLater puts off reminders that could not be looked at, out of the way of the others.
func (s *shared) lookLater(ctx context.Context, key turn.Key, ids []string, now time.Time) error {
	return s.store.Update(ctx, func(tx store.Tx) error {
		info, err := tx.Log().Session(ctx, key)
		if err != nil {
			return err
		}
		return cortex.LookLater(ctx, tx.Cortex(), key.Tenant, info.Segment, ids, now.Add(commit.LookAgain))
	})
}
