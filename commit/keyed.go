package commit

import (
	"context"
	"maps"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// readKeyed finds the turns that are in the log already, or wait to be written there, under their idempotency keys. An exchange
// that such a turn opened may have been committed with it.
func (p *Pipeline) readKeyed(ctx context.Context, tx store.Tx, info turn.SessionInfo, r *run) error {
	if !keyed(r.exchange.Turns) {
		return nil
	}
	var err error
	if r.keyed, err = r.base.idsByKey(ctx, tx, info, r.exchange.Turns); err != nil {
		return err
	}
	if opened := r.keyedOpening(); opened != "" {
		return notCommitted(ctx, tx, info, opened, nil)
	}
	return nil
}

// keyedOpening is the id of the turn that opened the exchange, where it is known by its key alone; empty where it is not.
func (r *run) keyedOpening() string {
	if r.exchange.Opened != "" {
		return ""
	}
	return r.keyed[r.exchange.Turns[0].IdempotencyKey]
}

// sameKeys is errMoreSaid where a turn of the exchange has come under its key since that was looked up: it has another id than
// was told by now, and may have been committed.
func (r *run) sameKeys(ctx context.Context, tx store.Tx, info turn.SessionInfo, before *standing) error {
	// What waits is another's only where the standing is.
	if !keyed(r.exchange.Turns) || info.Head == r.head() && (before == r.base || !before.waiting[History]) {
		return nil
	}
	now, err := before.idsByKey(ctx, tx, info, r.exchange.Turns)
	if err == nil && !maps.Equal(now, r.keyed) {
		return errMoreSaid
	}
	return err
}

// idsByKey are the ids that turns have in the log, or wait with to be written there, by their idempotency keys.
func (st *standing) idsByKey(ctx context.Context, tx store.Tx, info turn.SessionInfo, drafts []turn.Draft) (map[string]string, error) {
	waiting, err := st.keysPutOff(ctx, tx, info.Key)
	if err != nil {
		return nil, err
	}
	found := make(map[string]string)
	for _, d := range drafts {
		if d.IdempotencyKey == "" {
			continue
		}
		t, there, err := tx.Log().TurnByKey(ctx, info.Tenant, info.Segment, d.IdempotencyKey)
		if err != nil {
			return nil, err
		}
		if there {
			found[d.IdempotencyKey] = t.ID
		} else if id := waiting[d.IdempotencyKey]; id != "" {
			found[d.IdempotencyKey] = id
		}
	}
	return found, nil
}

// keysPutOff are the ids of the turns that wait to be written, by their idempotency keys.
func (st *standing) keysPutOff(ctx context.Context, tx store.Tx, key turn.Key) (map[string]string, error) {
	found := make(map[string]string)
	if !st.waiting[History] {
		return found, nil
	}
	open, err := openDeferrals(ctx, tx, key)
	if err != nil {
		return nil, err
	}
	for _, d := range open {
		if Target(d.Target) != History {
			continue
		}
		h, err := historyPartFields.Decode(d.Payload)
		if err != nil {
			continue // it will be given up, and must not keep others from being committed until then
		}
		for _, t := range h.drafts {
			if t.IdempotencyKey != "" && found[t.IdempotencyKey] == "" {
				found[t.IdempotencyKey] = t.ID
			}
		}
	}
	return found, nil
}
