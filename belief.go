package turnstone

import (
	"context"
	"fmt"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// State rebuilds the dialogue state as it was after turn seq, or with [Head] as it is now, with the
// turns that each flow points at.
func (s *Session) State(ctx context.Context, seq int64) (rev dialogue.Revision, err error) {
	err = s.view(ctx, func(tx store.Tx, info turn.SessionInfo) (err error) {
		at := seq
		if at == Head {
			at = info.Head
		}
		if at < 0 || at > info.Head {
			return fmt.Errorf("turn %d of %s: %w", seq, s.key.Session, turn.ErrNotFound)
		}
		rev, err = dialogue.At(ctx, tx.Dialogue(), s.key.Tenant, info.Lineage(at), at)
		return err
	})
	return rev, err
}

// Believe changes the dialogue state: change is given the state as it is now, and what it makes of
// it is written as a new revision after the session's last turn. Nothing is written if nothing
// changed or if change returns an error, which is returned. Change may run more than once. Flows
// that it completes are reported to the log.
func (s *Session) Believe(ctx context.Context, change func(*dialogue.State) error) (rev dialogue.Revision, err error) {
	err = s.update(ctx, func(tx store.Tx, info turn.SessionInfo) error {
		tenant := s.key.Tenant
		prev, err := dialogue.Load(ctx, tx.Dialogue(), tenant, info.Lineage(info.Head), info.Head)
		if err != nil {
			return err
		}
		next := prev.State
		if err := change(&next); err != nil {
			return err
		}
		for _, flow := range next.TakeCompleted() {
			if err := tx.Log().InsertCompletedFlow(ctx, tenant, info.Segment, flow, info.Head); err != nil {
				return fmt.Errorf("completed flow %s: %w", flow, err)
			}
		}
		rev, err = dialogue.Save(ctx, tx.Dialogue(), tenant, info.Segment, prev, &next, info.Head, tx.Now())
		return err
	})
	return rev, err
}

// CompletedFlows lists the flows that finished during the session, as dialogue state reported them.
func (s *Session) CompletedFlows(ctx context.Context) (flows []string, err error) {
	err = s.view(ctx, func(tx store.Tx, info turn.SessionInfo) error {
		for _, span := range info.Lineage(info.Head) {
			part, err := tx.Log().CompletedFlows(ctx, s.key.Tenant, span)
			if err != nil {
				return fmt.Errorf("completed flows of %s: %w", s.key.Session, err)
			}
			for _, f := range part {
				flows = append(flows, f.ID)
			}
		}
		return nil
	})
	return flows, err
}
