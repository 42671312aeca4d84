package turnstone

import (
	"context"
	"strings"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// RefusedError says that changes of goals, actions or notes are not legal. Nothing was written.
type RefusedError struct {
	// Reasons says of each what stands against it and what is legal. It begins with what it is about or, where that has no id and
	// several changes came, with its place: goals[1].
	Reasons []string
	// Field is the first that stands in the way, from the changes on: actions[0].title, put[1].content.
	Field string
}

func (e *RefusedError) Error() string { return strings.Join(e.Reasons, "\n") }

// refusal is a change that is not legal, of a goal, an action or a note. Place is where it stands among the others.
type refusal struct{ kind, id, place, field, reason string }

// path is the field that stands in the way, from the changes on.
func (r *refusal) path() string {
	if r.place == "" || r.field == "" {
		return r.place + r.field
	}
	return r.place + "." + r.field
}

// words say what stands against it. What has no id of its own is known among several by its place.
func (r *refusal) words(several bool) string {
	switch {
	case r.id != "":
		return r.kind + " " + r.id + ": " + r.reason
	case !several || r.place == "":
		return r.kind + ": " + r.reason
	case r.field == "":
		return r.place + ": " + r.reason
	}
	return r.place + "." + r.reason
}

// refused is the error for the refusals of so many changes.
func refused(refusals []refusal, changes int) *RefusedError {
	e := &RefusedError{Field: refusals[0].path()}
	for _, r := range refusals {
		e.Reasons = append(e.Reasons, r.words(changes > 1))
	}
	return e
}

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
			var refusals []refusal
			for _, r := range staged.Refused {
				refusals = append(refusals, refusal{string(r.Kind), r.ID, r.Place, r.Field, r.Reason})
			}
			return refused(refusals, len(changes.Goals)+len(changes.Actions))
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
