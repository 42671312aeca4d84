package commit

import (
	"context"
	"fmt"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// Believe changes a session's dialogue state inside an update that holds its lock: change is given the
// state as it is, and what it makes of it is written as a new revision after the session's head.
// Nothing is written if nothing changed. Flows that it completes are reported to the log. A flow that
// is pointed at a turn the session does not have is a turn.ErrNotFound.
func Believe(ctx context.Context, tx store.Tx, info turn.SessionInfo, change func(*dialogue.State) error) (dialogue.Revision, error) {
	prev, err := dialogue.Load(ctx, tx.Dialogue(), info.Tenant, info.Lineage(info.Head), info.Head)
	if err != nil {
		return dialogue.Revision{}, err
	}
	next := prev.State
	if err := change(&next); err != nil {
		return dialogue.Revision{}, err
	}
	if err := checkAttached(ctx, tx, info, next); err != nil {
		return dialogue.Revision{}, err
	}
	for _, flow := range next.TakeCompleted() {
		if err := tx.Log().InsertCompletedFlow(ctx, info.Tenant, info.Segment, flow, info.Head); err != nil {
			return dialogue.Revision{}, fmt.Errorf("completed flow %s: %w", flow, err)
		}
	}
	return dialogue.Save(ctx, tx.Dialogue(), info.Tenant, info.Segment, prev, &next, info.Head, tx.Now())
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
