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
func (s *Session) Believe(ctx context.Context, change func(*dialogue.State) error) (dialogue.Revision, error) {
	return s.believe(ctx, change, func(store.Tx) error { return nil })
}

func (s *Session) believe(ctx context.Context, change func(*dialogue.State) error, allowed func(store.Tx) error) (rev dialogue.Revision, err error) {
	err = s.update(ctx, func(tx store.Tx, info turn.SessionInfo) error {
		if err := allowed(tx); err != nil {
			return err
		}
		tenant := s.key.Tenant
		prev, err := dialogue.Load(ctx, tx.Dialogue(), tenant, info.Lineage(info.Head), info.Head)
		if err != nil {
			return err
		}
		next := prev.State
		if err := change(&next); err != nil {
			return err
		}
		if err := checkAttached(ctx, tx, info, next); err != nil {
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
		completed, err := turn.CompletedFlowsOf(ctx, tx.Log(), info)
		for _, f := range completed {
			flows = append(flows, f.ID)
		}
		return err
	})
	return flows, err
}

// checkAttached refuses a flow that is pointed at a turn the session does not have. The state is a
// copy: what it hands out is still there for the one it was copied from.
func checkAttached(ctx context.Context, tx store.Tx, info turn.SessionInfo, state dialogue.State) error {
	for _, p := range state.TakeAttached() {
		q, err := turn.Query{ID: p.TurnID, Limit: 1}.Compile()
		if err != nil {
			return err
		}
		page, err := q.Run(ctx, tx.Log(), info)
		if err != nil {
			return err
		}
		if len(page.Turns) == 0 {
			return fmt.Errorf("flow %s at turn %s of %s: %w", p.FlowID, p.TurnID, info.Session, turn.ErrNotFound)
		}
	}
	return nil
}
