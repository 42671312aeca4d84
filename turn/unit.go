package turn

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// joinUnit gives the turn its place in a unit: a turn with calls opens one, a result closes one
// call of an open one.
func joinUnit(ctx context.Context, rows TurnRows, s SessionInfo, t *Turn) error {
	switch c := t.Content.(type) {
	case Text:
		for i, call := range c.ToolCalls {
			t.Unit = t.Seq
			err := rows.InsertOpenCall(ctx, s.Tenant, s.Segment, OpenCall{ID: call.ID, Name: call.Name, Unit: t.Seq})
			if errors.Is(err, ErrConflict) {
				return ofCall(i, fieldErrorf("content.tool_calls.id", "append its result first, or use another id", "call %q is still open", call.ID))
			}
			if err != nil {
				return fmt.Errorf("open call %q: %w", call.ID, err)
			}
		}
	case Result:
		open, err := rows.DeleteOpenCall(ctx, s.Tenant, s.Segment, c.CallID)
		if errors.Is(err, ErrNotFound) {
			return notOpen(c.CallID, s.Session)
		}
		if err != nil {
			return fmt.Errorf("close call %q: %w", c.CallID, err)
		}
		if open.Name != c.Name {
			return fieldErrorf("content.name", "give the name of the tool that was called", "call %q is to %q, not %q", c.CallID, open.Name, c.Name)
		}
		t.Unit = open.Unit
	}
	return nil
}

func notOpen(call, session string) error {
	return fieldErrorf("content.call_id", "give the id of a call that has no result yet", "no call %q is open in session %s", call, session)
}

// Complete reports whether the members of one unit, the call first, hold a result for every call.
func Complete(members []Turn) bool {
	if len(members) == 0 {
		return false
	}
	return len(members)-1 >= len(members[0].Calls())
}

// CloseOpenCalls gives every open call of the session a synthetic cancelled result, in the order
// of the calls, and returns the turns written. Only who holds the session's lease may do this: a
// call may still be running in the hands of another holder.
func CloseOpenCalls(ctx context.Context, rows Appender, key Key, now time.Time, newID func() string) ([]Turn, error) {
	s, err := rows.LockSession(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", key.Session, err)
	}
	open, err := rows.OpenCalls(ctx, s.Tenant, s.Segment)
	if err != nil {
		return nil, fmt.Errorf("open calls of %s: %w", key.Session, err)
	}
	drafts := make([]Sealed, len(open))
	for i, c := range open {
		d := Draft{ID: newID(), Role: System, Content: Result{Name: c.Name, CallID: c.ID, Status: CallCancelled, Synthetic: true}}
		if drafts[i], err = d.Seal(Limits{}); err != nil {
			return nil, err
		}
	}
	return Append(ctx, rows, key, now, drafts...)
}
