package turnstone

import (
	"context"
	"errors"
	"fmt"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// ErrSnapshotsOff: the engine was told to take no snapshots.
var ErrSnapshotsOff = errors.New("snapshots are off; open the engine without Snapshots.Off to take one")

// Snapshot takes a snapshot of the session as it stands, under a name that may be empty and need not be the only one
// of its kind. It costs a row: the log and the epochs hold the rest. The event snapshot-created is stored with it.
// A *[snapshot.FieldError] for a name that is none, and [ErrSnapshotsOff].
func (s *Session) Snapshot(ctx context.Context, name string) (taken snapshot.Snapshot, err error) {
	if s.engine.config.Snapshots.Off {
		return snapshot.Snapshot{}, fmt.Errorf("snapshot of %s: %w", s.key.Session, ErrSnapshotsOff)
	}
	err = s.update(ctx, func(tx store.Tx, info turn.SessionInfo) (err error) {
		if taken, err = s.standing(ctx, tx, info); err != nil {
			return err
		}
		taken.Name = name
		return s.keepSnapshot(ctx, tx, info, taken, event.SnapshotCreated)
	})
	if err != nil {
		return snapshot.Snapshot{}, s.snapshotFailed(ctx, "take", fmt.Errorf("snapshot of %s: %w", s.key.Session, err))
	}
	return taken, nil
}

// Snapshots lists up to limit snapshots of the session with an id smaller than before (all, if it is empty), the
// newest first; at most 100 if the limit is 0 or less. Damaged ones are left out and named by the error, with
// which the others come too. A fork lists those of its parent that were taken up to the fork point, too.
func (s *Session) Snapshots(ctx context.Context, before string, limit int) (list []snapshot.Snapshot, err error) {
	if limit <= 0 {
		limit = 100
	}
	err = s.view(ctx, func(tx store.Tx, info turn.SessionInfo) (err error) {
		list, err = snapshot.List(ctx, tx.Snapshot(), s.key.Tenant, info.Lineage(info.Head), before, limit)
		return err
	})
	if err != nil {
		return list, fmt.Errorf("snapshots of %s: %w", s.key.Session, err)
	}
	return list, nil
}

// DeleteSnapshot deletes one of the session's own snapshots. What it could be restored to stays in the log.
// [snapshot.ErrNotFound] where there is none of that id.
func (s *Session) DeleteSnapshot(ctx context.Context, id string) error {
	err := s.update(ctx, func(tx store.Tx, info turn.SessionInfo) error {
		err := snapshot.Delete(ctx, tx.Snapshot(), s.key.Tenant, info.Segment, id)
		if !errors.Is(err, snapshot.ErrNotFound) {
			return err
		}
		inherited, ferr := snapshot.Find(ctx, tx.Snapshot(), s.key.Tenant, info.Lineage(info.Head), id)
		switch {
		case ferr != nil:
			return fmt.Errorf("%w; list them for the ids there are", err)
		case inherited.ID != id:
			return fmt.Errorf("%w of that id; the newest of that name is %s", err, inherited.ID)
		}
		return fmt.Errorf("%w of its own; it was inherited from %s: delete it there", err, inherited.Session)
	})
	if err != nil {
		return s.snapshotFailed(ctx, "delete", fmt.Errorf("snapshots of %s: %w", s.key.Session, err))
	}
	return nil
}

// takeAuto takes the automatic snapshot of the session as it stands in the transaction, before anything of what is
// to be taken back is written there, unless the configuration says not to or the newest automatic one is of the same
// turn and epoch already. Taken is false then.
func (s *Session) takeAuto(ctx context.Context, tx store.Tx, info turn.SessionInfo) (taken bool, err error) {
	return s.takeUnless(ctx, tx, info, func(last, now *snapshot.Snapshot) bool {
		return last.Turn == now.Turn && last.Epoch == now.Epoch
	})
}

// takeFilled takes an automatic snapshot when the conversation fills its room as far as the configuration says, once in
// an epoch. Filled is 1 where it is full.
func (s *Session) takeFilled(ctx context.Context, tx store.Tx, info turn.SessionInfo, filled float64) (taken bool, err error) {
	if filled < s.engine.config.Snapshots.AutoThreshold {
		return false, nil
	}
	return s.takeUnless(ctx, tx, info, func(last, now *snapshot.Snapshot) bool { return last.Epoch == now.Epoch })
}

func (s *Session) takeUnless(ctx context.Context, tx store.Tx, info turn.SessionInfo, enough func(last, now *snapshot.Snapshot) bool) (taken bool, err error) {
	if !s.engine.config.Snapshots.Auto() {
		return false, nil
	}
	now, err := s.standing(ctx, tx, info)
	if err != nil {
		return false, fmt.Errorf("automatic snapshot: %w", err)
	}
	last, err := snapshot.First(ctx, tx.Snapshot(), s.key.Tenant, info.Lineage(info.Head), func(s *snapshot.Snapshot) bool { return s.Auto })
	if err == nil && enough(&last, &now) {
		return false, nil
	}
	if err != nil && !errors.Is(err, snapshot.ErrNotFound) {
		return false, fmt.Errorf("automatic snapshot: %w", err)
	}
	now.Auto = true
	if err := s.keepSnapshot(ctx, tx, info, now, event.AutoSnapshotCreated); err != nil {
		return false, fmt.Errorf("automatic snapshot: %w", err)
	}
	return true, nil
}

// standing is the session as a snapshot of it would be, without a name.
func (s *Session) standing(ctx context.Context, tx store.Tx, info turn.SessionInfo) (snapshot.Snapshot, error) {
	now := snapshot.Snapshot{
		ID: s.engine.newID(), Session: s.key.Session, Turn: info.Head, At: tx.Now(), MessageCount: info.Head, Model: info.Model, Mode: info.Mode,
	}
	row, err := tx.Prompt().LastEpoch(ctx, s.key.Tenant, info.Lineage(info.Head))
	if errors.Is(err, prompt.ErrNotFound) {
		return now, nil
	}
	if err != nil {
		return now, err
	}
	epoch, err := prompt.DecodeEpoch(row)
	if err != nil {
		return now, err
	}
	now.Epoch, now.CheckpointCount = epoch.Number, int64(len(epoch.Checkpoints))
	now.MessageCount = snapshot.Count(epoch.Path, info.Head)
	last, err := lastCall(ctx, tx, info)
	if err != nil || last.Number == 0 {
		return now, err
	}
	window, err := budget.WindowOf(int(last.Context))
	if err != nil {
		return now, err
	}
	now.TokenCount, now.Model, now.Tier = last.Tokens, last.Model, window.Tier()
	return now, nil
}

// keepSnapshot keeps a snapshot and announces it.
func (s *Session) keepSnapshot(ctx context.Context, tx store.Tx, info turn.SessionInfo, taken snapshot.Snapshot, kind event.Kind) error {
	if err := snapshot.Take(ctx, tx.Snapshot(), s.key.Tenant, info.Segment, taken); err != nil {
		return err
	}
	return s.announce(ctx, tx, kind, fmt.Sprintf(`{"snapshot":%s,"name":%s,"turn":%d,"epoch":%d,"tokens":%d}`,
		quoted(taken.ID), quoted(taken.Name), taken.Turn, taken.Epoch, taken.TokenCount))
}

// snapshotFailed returns the error, and stores the event snapshot-error where it is not the caller's: where the input
// was good and what it named was there.
func (s *Session) snapshotFailed(ctx context.Context, doing string, err error) error {
	var bad *invalid.Field
	if errors.As(err, &bad) || errors.Is(err, ErrBusy) || errors.Is(err, turn.ErrLeaseLost) || errors.Is(err, snapshot.ErrNotFound) || errors.Is(err, turn.ErrNotFound) ||
		errors.Is(err, store.ErrClosed) || errors.Is(err, store.ErrReadOnly) || ctx.Err() != nil {
		return err
	}
	return errors.Join(err, s.update(ctx, func(tx store.Tx, _ turn.SessionInfo) error {
		return s.announce(ctx, tx, event.SnapshotError, fmt.Sprintf(`{"operation":%s,"error":%s}`, quoted(doing), quoted(shown(err))))
	}))
}
