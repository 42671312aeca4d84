package cortex

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/internal/span"
)

// Due is an action that is to be looked at, since it may be a reminder that nobody answered in time.
type Due struct {
	Tenant  string
	Session string
	ID      string
}

// Insert adds a version to a segment. A reminder that is sent with it is looked at when its time is over.
func Insert(ctx context.Context, rows Rows, tenant string, segment int64, r Row) error {
	if err := rows.InsertVersion(ctx, tenant, segment, r); err != nil {
		return fmt.Errorf("%s %s version %d: %w", r.Kind, r.ID, r.Version, err)
	}
	return Remind(ctx, rows, tenant, segment, r)
}

// Remind has a version that is in a segment looked at when its time is over, if it is a reminder that is sent.
func Remind(ctx context.Context, rows Rows, tenant string, segment int64, r Row) error {
	if at, ok := r.escalates(); ok {
		if err := rows.SetReminder(ctx, tenant, segment, r.ID, at); err != nil {
			return fmt.Errorf("%s %s version %d: %w", r.Kind, r.ID, r.Version, err)
		}
	}
	return nil
}

// Escalate escalates those of a session's reminders whose time is over, and has each of the named ones looked at again
// when its own is, or no more. Spans are the session's lineage up to its last turn, which is afterSeq.
func Escalate(ctx context.Context, rows Rows, tenant string, segment, afterSeq int64, spans []span.Span, ids []string, now time.Time) (Staged, error) {
	state, err := Load(ctx, rows, tenant, spans, true)
	if err != nil {
		return Staged{}, err
	}
	staged := state.Stage(Changes{Actions: state.Overdue(now)}, now, nil)
	if err := Write(ctx, rows, tenant, segment, afterSeq, staged); err != nil {
		return Staged{}, err
	}
	for _, id := range ids {
		var next time.Time
		if i, ok := staged.Next.action(id); ok {
			next, _ = staged.Next.actions[i].escalates()
		}
		if err := rows.SetReminder(ctx, tenant, segment, id, next); err != nil {
			return Staged{}, fmt.Errorf("reminder %s: %w", id, err)
		}
	}
	return staged, nil
}

// LookLater has actions looked at when the time has come, in the place of any time before.
func LookLater(ctx context.Context, rows Rows, tenant string, segment int64, ids []string, at time.Time) error {
	for _, id := range ids {
		if err := rows.SetReminder(ctx, tenant, segment, id, at); err != nil {
			return fmt.Errorf("reminder %s: %w", id, err)
		}
	}
	return nil
}

// Moot reports whether a change is one of [State.Overdue] to a reminder that was answered, escalated or else changed since.
func (s *State) Moot(c ActionChange) bool {
	if c.By != ActorSystem || c.Version == 0 || c.Status == nil || *c.Status != ActionEscalated {
		return false
	}
	i, ok := s.action(c.ID)
	return !ok || s.actions[i].Version != c.Version
}

// Escalated returns the ids of the reminders that are escalated by what was staged.
func (s *Staged) Escalated() []string {
	var ids []string
	for i := range s.Rows {
		if s.Rows[i].Kind == KindAction && s.Updates[i].Status == string(ActionEscalated) {
			ids = append(ids, s.Rows[i].ID)
		}
	}
	return ids
}

// escalates returns when the time of a reminder that was sent is over; ok is false for all other actions.
func (a *PendingAction) escalates() (at time.Time, ok bool) {
	if a.Type != Reminder || a.Status != ActionSent {
		return time.Time{}, false
	}
	return a.StatusAt.Add(EscalateAfter), true
}

// escalates is that of the action that the row holds. Few rows hold the word, and only those are read.
func (r *Row) escalates() (at time.Time, ok bool) {
	if r.Kind != KindAction || !r.Live || !strings.Contains(r.Doc, `"sent"`) {
		return time.Time{}, false
	}
	a, err := DecodeAction(r.Doc)
	if err != nil {
		return time.Time{}, false // whoever reads it says so
	}
	return a.escalates()
}
