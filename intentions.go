package turnstone

import (
	"context"
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// RefusedError says that changes of goals, actions or notes are not legal. Nothing was written.
type RefusedError struct {
	// Reasons says of each what stands against it and what is legal.
	Reasons []string
	// Field is the one that stands in the way of a change that came alone, empty where there were several.
	Field string
}

func (e *RefusedError) Error() string { return strings.Join(e.Reasons, "\n") }

// Intentions returns the session's goals and pending actions, with all also those that are finished.
func (s *Session) Intentions(ctx context.Context, all bool) (state *cortex.State, err error) {
	err = s.view(ctx, func(tx store.Tx, info turn.SessionInfo) (err error) {
		state, err = cortex.Load(ctx, tx.Cortex(), s.key.Tenant, info.Lineage(info.Head), !all)
		return err
	})
	return state, err
}

// Intend changes goals and actions, all or nothing, and returns what they are then. A *[RefusedError]
// says what is not legal.
func (s *Session) Intend(ctx context.Context, changes cortex.Changes) (staged cortex.Staged, err error) {
	err = s.update(ctx, func(tx store.Tx, info turn.SessionInfo) error {
		spans := info.Lineage(info.Head)
		state, err := cortex.Load(ctx, tx.Cortex(), s.key.Tenant, spans, true)
		if err != nil {
			return err
		}
		if state, err = state.Including(ctx, tx.Cortex(), s.key.Tenant, spans, changes); err != nil {
			return err
		}
		staged = state.Stage(changes, tx.Now(), s.engine.newID)
		if len(staged.Refused) > 0 {
			refused := &RefusedError{}
			for _, r := range staged.Refused {
				refused.Reasons = append(refused.Reasons, strings.TrimSpace(fmt.Sprintf("%s %s", r.Kind, r.ID))+": "+r.Reason)
			}
			if len(changes.Goals)+len(changes.Actions) == 1 {
				refused.Field = staged.Refused[0].Field
			}
			return refused
		}
		s.engine.shared.pipeline.Changed(s.key)
		return cortex.Write(ctx, tx.Cortex(), s.key.Tenant, info.Segment, info.Head, staged)
	})
	if err != nil {
		return cortex.Staged{}, err
	}
	return staged, nil
}

// IntentionHistory returns every change of a goal or an action, oldest first. cortex.ErrNotFound if the
// session has none of that id.
func (s *Session) IntentionHistory(ctx context.Context, kind cortex.Kind, id string) (entries []cortex.Entry, err error) {
	err = s.view(ctx, func(tx store.Tx, info turn.SessionInfo) (err error) {
		entries, err = cortex.History(ctx, tx.Cortex(), s.key.Tenant, info.Lineage(info.Head), kind, id)
		return err
	})
	return entries, err
}
