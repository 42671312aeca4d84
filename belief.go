package turnstone

import (
	"context"
	"fmt"

	"github.com/turnstone-dev/turnstone/commit"
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
		rev, err = commit.Believe(ctx, tx, info, change)
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
