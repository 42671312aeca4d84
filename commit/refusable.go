package commit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// What is refused for what is known before is refused before a reply is made and handed over: it could not be taken back. Where
// nobody is told of one, the update finds it.

// tells reports whether somebody is asked for a reply, or told of it, before the update.
func (p *Pipeline) tells(r *run) bool {
	return (p.config.Responder != nil || r.exchange.Replied != nil) && r.first == nil
}

// lookFirst reports whether only the store knows if the exchange can be committed, and somebody is told before. To ask for a
// reply in vain is cheaper than to look each time.
func (r *run) lookFirst() bool {
	ex := &r.exchange
	return ex.Replied != nil && r.first == nil && (r.mayExist || ex.Lease != "" || relies(ex.Turns))
}

// relies reports whether drafts have calls or results of them, bytes that are sent by their hash alone, summaries, or ids of the
// caller's.
func relies(drafts []turn.Draft) bool {
	return slices.ContainsFunc(drafts, func(d turn.Draft) bool {
		bytes := (*turn.Blob)(nil)
		switch c := d.Content.(type) {
		case turn.Text:
			if len(c.ToolCalls) > 0 {
				return true
			}
		case turn.Result:
			return true
		case turn.Image:
			bytes = &c.Blob
		case turn.Speech:
			if c.Audio != nil {
				bytes = &c.Audio.Blob
			}
		}
		return d.ID != "" || d.Kind == turn.KindSummary || bytes != nil && bytes.Data == nil
	})
}

// appendable refuses an exchange that the log would not take, or whose lease is lost.
func (p *Pipeline) appendable(ctx context.Context, tx store.Tx, info turn.SessionInfo, r *run) error {
	if !p.tells(r) {
		return nil
	}
	if token := r.exchange.Lease; token != "" {
		if held, err := tx.Log().Lease(ctx, r.key); err != nil {
			return err
		} else if held.Token != token {
			return fmt.Errorf("session %s: %w", r.key.Session, turn.ErrLeaseLost)
		}
	}
	if err := r.idsUnused(ctx, tx, info); err != nil {
		return err
	}
	return rehearse(ctx, tx, info, r.base, r.sealed)
}

// whyConflict is the error of an update with the turn to blame, if the ids tell: a store names what it could not write.
func (p *Pipeline) whyConflict(ctx context.Context, r *run, err error) error {
	why := p.store.View(ctx, func(tx store.Tx) error {
		info, err := tx.Log().Session(ctx, r.key)
		if err != nil {
			return err
		}
		return r.idsUnused(ctx, tx, info)
	})
	if errors.Is(why, turn.ErrConflict) {
		return why
	}
	return err
}

// idsUnused refuses a turn whose id is that of another one in the log.
func (r *run) idsUnused(ctx context.Context, tx store.Tx, info turn.SessionInfo) error {
	for i := range r.exchange.Turns {
		d := &r.exchange.Turns[i]
		if d.ID == "" || r.keyed[d.IdempotencyKey] != "" {
			continue
		}
		stored, err := tx.Log().TurnsByID(ctx, info.Tenant, d.ID)
		if err != nil {
			return err
		}
		spans := info.Spans(info.Head)
		for j := range stored {
			at := &stored[j]
			if slices.ContainsFunc(spans, func(s turn.Span) bool { return s.Segment == at.Segment && s.From <= at.Seq && at.Seq <= s.To }) {
				return fmt.Errorf("%s.turn_id: %s is that of turn %d, which is in the log already: %w; name it by the turn_id of the exchange if it opened it, or give another id",
					record.Indexed("turns", i), d.ID, at.Seq, turn.ErrConflict)
			}
		}
	}
	return nil
}
