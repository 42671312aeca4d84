package commit

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// LookAgain is in what time reminders are looked at again that could not be escalated.
const LookAgain = time.Hour

// Escalate escalates the session's reminders whose time is over, in an update of its own, and returns how many. The ids are
// those that [cortex.Rows.DueReminders] named: what is none of them any more is not named again. A commit does the same, but
// nobody may ever say anything to the session again. Where an answer may be on its way, they are looked at again in
// [LookAgain].
func (p *Pipeline) Escalate(ctx context.Context, key turn.Key, ids []string) (escalated int64, err error) {
	err = p.store.Update(ctx, func(tx store.Tx) error {
		escalated = 0
		info, err := tx.Log().LockSession(ctx, key)
		if err != nil {
			return err
		}
		coming, err := p.answerComing(ctx, tx, key)
		if err != nil {
			return err
		}
		if coming {
			return cortex.LookLater(ctx, tx.Cortex(), info.Tenant, info.Segment, ids, tx.Now().Add(LookAgain))
		}
		staged, err := cortex.Escalate(ctx, tx.Cortex(), info.Tenant, info.Segment, info.Head, info.Lineage(info.Head), ids, tx.Now())
		if err != nil {
			return err
		}
		if escalated = int64(len(staged.Rows)); escalated == 0 {
			return nil
		}
		p.Changed(key)
		return p.announceEscalated(ctx, tx, key, staged)
	})
	if err != nil {
		return 0, err
	}
	return escalated, nil
}

// answerComing reports whether something is to be written to the session's actions that was said before: by an exchange that is
// under way, which escalates itself what it does not answer, or by one whose changes were put off. What is escalated before it
// could not be answered by it any more.
func (p *Pipeline) answerComing(ctx context.Context, tx store.Tx, key turn.Key) (bool, error) {
	if _, open, err := tx.Log().Exchange(ctx, key); err != nil || open {
		return open, err
	}
	waiting, err := tx.Outbox().WaitingTargets(ctx, key.Tenant, key.Session)
	return slices.Contains(waiting, string(Cortex)), err
}

// announceEscalated announces the reminders that are escalated by what was staged.
func (p *Pipeline) announceEscalated(ctx context.Context, tx store.Tx, key turn.Key, staged cortex.Staged) error {
	for _, id := range staged.Escalated() {
		u, _ := staged.Update(cortex.KindAction, id)
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
