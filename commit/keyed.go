package commit

import (
	"context"
	"fmt"
	"maps"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// readKeyed finds the turns that are in the log already, or wait to be written there, under their idempotency keys. An exchange
// that such a turn opened may have been committed with it.
func (p *Pipeline) readKeyed(ctx context.Context, tx store.Tx, info turn.SessionInfo, r *run) error {
	if !keyed(r.drafts) {
		return nil
	}
	firsts, err := r.base.byKey(ctx, tx, info, r.drafts)
	if err != nil {
		return err
	}
	r.keyed = make(map[string]string)
	for i := range r.drafts {
		d := &r.drafts[i]
		first, found := firsts[d.IdempotencyKey]
		if !found {
			continue
		}
		if err := r.sealed[i].Repeats(&first); err != nil {
			return fmt.Errorf("%s: %w", record.Indexed("turns", i), err)
		}
		r.keyed[d.IdempotencyKey], d.ID = first.ID, first.ID
		if r.sealed[i], err = d.Seal(p.config.Limits); err != nil {
			return record.Within(record.Indexed("turns", i), err)
		}
	}
	if err := r.keysInHistory(ctx, tx, info, firsts); err != nil {
		return err
	}
	opened := r.keyedOpening()
	if opened == "" {
		return nil
	}
	if err := r.mayOpen(ctx, tx, info, r.base, opened, nil); err != nil {
		return err
	}
	first := firsts[r.drafts[0].IdempotencyKey]
	return notPartOfAnother(ctx, tx, info, r.base, &first)
}

// keysInHistory refuses the key of a turn that a restore left behind: the history would have the exchange without it.
func (r *run) keysInHistory(ctx context.Context, tx store.Tx, info turn.SessionInfo, firsts map[string]turn.Turn) error {
	if len(firsts) == 0 {
		return nil
	}
	path, err := pathInForce(ctx, tx, info)
	if err != nil {
		return err
	}
	for i := range r.drafts {
		if first := firsts[r.drafts[i].IdempotencyKey]; first.Seq > 0 && path.Off(first.Seq) {
			return invalid.New(record.Indexed("turns", i)+".idempotency_key", fmt.Sprintf("it was used for turn %d, which %s", first.Seq, leftBehind), "use a new key")
		}
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
	now, err := before.byKey(ctx, tx, info, r.exchange.Turns)
	if err == nil && !maps.EqualFunc(now, r.keyed, func(first turn.Turn, known string) bool { return first.ID == known }) {
		return errMoreSaid
	}
	return err
}

// byKey are the turns that are in the log, or wait to be written there, under the idempotency keys of drafts.
func (st *standing) byKey(ctx context.Context, tx store.Tx, info turn.SessionInfo, drafts []turn.Draft) (map[string]turn.Turn, error) {
	waiting, err := st.keysPutOff(ctx, tx, info.Key)
	if err != nil {
		return nil, err
	}
	found := make(map[string]turn.Turn)
	for _, d := range drafts {
		if d.IdempotencyKey == "" {
			continue
		}
		first, there, err := tx.Log().TurnByKey(ctx, info.Tenant, info.Segment, d.IdempotencyKey)
		if err != nil {
			return nil, err
		}
		if !there {
			first, there = waiting[d.IdempotencyKey]
		}
		if there {
			found[d.IdempotencyKey] = first
		}
	}
	return found, nil
}

// keysPutOff are the turns that wait to be written, by their idempotency keys.
func (st *standing) keysPutOff(ctx context.Context, tx store.Tx, key turn.Key) (map[string]turn.Turn, error) {
	if !st.waiting[History] {
		return nil, nil
	}
	histories, err := waitingHistories(ctx, tx, key)
	if err != nil {
		return nil, err
	}
	found := make(map[string]turn.Turn)
	for _, d := range histories {
		part, err := decodePart(History, d.Payload)
		if err != nil {
			continue // it will be given up, and must not keep others from being committed until then
		}
		for _, s := range part.(*historyPart).sealed {
			t := s.Turn()
			if _, before := found[t.IdempotencyKey]; t.IdempotencyKey != "" && !before {
				found[t.IdempotencyKey] = t
			}
		}
	}
	return found, nil
}
