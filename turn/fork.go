package turn

import (
	"context"
	"fmt"
	"time"
)

// Fork makes child a new session that shares the parent's turns up to and including seq at, without
// copying them. Child brings its key and descriptive fields; what it leaves empty it takes from the
// parent. A fork point inside a unit, or after a call that is still open, is refused: the child
// would see a call without its result.
func Fork(ctx context.Context, rows Appender, parent Key, at int64, child SessionInfo, now time.Time) (SessionInfo, error) {
	p, err := rows.LockSession(ctx, parent)
	if err != nil {
		return SessionInfo{}, fmt.Errorf("session %s: %w", parent.Session, err)
	}
	if at < 0 || at > p.Head {
		return SessionInfo{}, fieldErrorf("at", fmt.Sprintf("give a seq from 0 to %d", p.Head), "session %s has no turn %d", parent.Session, at)
	}
	spans := p.Spans(at)
	if err := checkForkPoint(ctx, rows, p, spans, at); err != nil {
		return SessionInfo{}, err
	}
	described := p.Described(child)
	child = SessionInfo{Key: child.Key, User: described.User, Title: described.Title, Model: described.Model, Mode: described.Mode, Status: Active}
	child.Parent, child.ForkSeq, child.Head, child.Inherited = parent.Session, at, at, spans
	child.CreatedAt, child.LastActivity = now, now
	if err := child.CheckInfo(); err != nil {
		return SessionInfo{}, err
	}
	if child.Segment, err = rows.InsertSession(ctx, child); err != nil {
		return SessionInfo{}, fmt.Errorf("session %s: %w", child.Session, err)
	}
	if err := pinFlows(ctx, rows, p, child); err != nil {
		return SessionInfo{}, err
	}
	return child, nil
}

func checkForkPoint(ctx context.Context, rows TurnRows, p SessionInfo, spans []Span, at int64) error {
	if len(spans) == 0 {
		return nil
	}
	last := spans[len(spans)-1].Segment
	unit, err := rows.Straddling(ctx, p.Tenant, last, at)
	if err != nil {
		return fmt.Errorf("fork point %d: %w", at, err)
	}
	if unit != 0 {
		return fieldErrorf("at", fmt.Sprintf("fork at %d or after the call's last result", unit-1),
			"turn %d stands between the tool call of turn %d and its result", at, unit)
	}
	open, err := rows.OpenCalls(ctx, p.Tenant, last)
	if err != nil {
		return fmt.Errorf("fork point %d: %w", at, err)
	}
	for _, c := range open {
		if c.Unit <= at {
			return fieldErrorf("at", fmt.Sprintf("fork at %d or wait for the result", c.Unit-1),
				"call %q of turn %d has no result yet", c.ID, c.Unit)
		}
	}
	return nil
}
