package commit

import (
	"context"
	"encoding/json"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// Escalate escalates the session's reminders whose time is over, in an update of its own, and returns how many. The ids are
// those that [cortex.Rows.DueReminders] named: what is none of them any more is not named again. A commit does the same, but
// nobody may ever say anything to the session again.
func (p *Pipeline) Escalate(ctx context.Context, key turn.Key, ids []string) (escalated int64, err error) {
	err = p.store.Update(ctx, func(tx store.Tx) error {
		info, err := tx.Log().LockSession(ctx, key)
		if err != nil {
			return err
		}
		staged, err := cortex.Escalate(ctx, tx.Cortex(), info.Tenant, info.Segment, info.Head, info.Lineage(info.Head), ids, tx.Now())
		if err != nil {
			return err
		}
		if escalated = int64(len(staged.Rows)); escalated == 0 {
			return nil
		}
		p.Changed(tx, key)
		return p.announceEscalated(ctx, tx, key, staged)
	})
	return escalated, err
}

// announceEscalated announces the reminders that are escalated by what was staged.
func (p *Pipeline) announceEscalated(ctx context.Context, tx store.Tx, key turn.Key, staged cortex.Staged) error {
	for _, id := range staged.Escalated() {
		u := staged.UpdatedActions[id]
		said, err := json.Marshal(map[string]any{"action_id": id, "title": u.Title, "version": u.Version})
		if err != nil {
			return err
		}
		err = p.announce(ctx, tx, event.Event{Tenant: key.Tenant, Session: key.Session, Kind: event.ReminderEscalated, Data: string(said)})
		if err != nil {
			return err
		}
	}
	return nil
}
