package commit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// No turn is part of two exchanges that are told of: one that stands in an exchange that was committed opens no other, and is left
// out of one that was opened before it.

// sums reports whether a turn may be the summary of an exchange. That of a checkpoint has a message id and is none, others may be
// the caller's own: only their exports tell.
func sums(t *turn.Turn) bool { return t.Kind == turn.KindSummary && t.MessageID == "" }

// leaveOut drops the turns of other exchanges that were committed from those of the one that the first of the turns opened; if that
// is one of them itself, the exchange is refused.
func (r *run) leaveOut(ctx context.Context, tx store.Tx, info turn.SessionInfo, turns []turn.Turn) error {
	others, err := taken(ctx, tx, info, r.base, turns)
	if err != nil || len(others) == 0 {
		return err
	}
	if e := others[turns[0].ID]; e != nil && !(r.exchange.Again && r.exchange.Lease != "") {
		return partOf(turns[0].ID, e)
	}
	s := &r.situation
	s.Turns = slices.DeleteFunc(s.Turns, func(t Said) bool { return t.ID != turns[0].ID && others[t.ID] != nil })
	return nil
}

// partOf refuses an exchange whose opening turn is part of another one.
func partOf(opened string, e *event.Export) error {
	return fmt.Errorf("turn %s is part of the exchange that turn %s opened, which was committed already, as export %s: %w; commit what came after it, or nothing",
		opened, e.TurnID, e.ID, turn.ErrConflict)
}

// taken are the exports of other exchanges that were committed since the first of the turns was said, by the ids of the turns that
// they tell of.
func taken(ctx context.Context, tx store.Tx, info turn.SessionInfo, st *standing, turns []turn.Turn) (map[string]*event.Export, error) {
	by, err := takenByWaiting(ctx, tx, info, st, turns[0].ID)
	if err != nil {
		return nil, err
	}
	for i := range turns {
		summary := &turns[i]
		if !sums(summary) || summary.Covers.From == turns[0].Seq {
			continue
		}
		opened, err := idAt(ctx, tx, info, summary.Covers.From, turns)
		if err != nil {
			return nil, err
		}
		exports, err := tx.Outbox().ExportsOf(ctx, info.Tenant, opened)
		if err != nil {
			return nil, err
		}
		for j := range exports {
			if e := &exports[j]; e.Segment == info.Segment || inherited(info, e) {
				take(by, e, summary.Covers, turns)
			}
		}
	}
	return by, nil
}

// takenByWaiting is taken for the exchanges whose history waits to be written, and that another turn opened.
func takenByWaiting(ctx context.Context, tx store.Tx, info turn.SessionInfo, st *standing, opened string) (map[string]*event.Export, error) {
	by := make(map[string]*event.Export)
	if !st.waiting[History] {
		return by, nil
	}
	histories, err := waitingHistories(ctx, tx, info.Key)
	if err != nil {
		return nil, err
	}
	for _, d := range histories {
		e, err := tx.Outbox().Export(ctx, d.Tenant, d.ExportID)
		if errors.Is(err, event.ErrNotFound) {
			continue // nothing is told of it
		}
		if err != nil {
			return nil, err
		}
		if e.TurnID != opened {
			take(by, &e, turn.Range{}, nil)
		}
	}
	return by, nil
}

// notPartOfAnother refuses an exchange that is opened by a turn which is known by its key and is part of another one.
func notPartOfAnother(ctx context.Context, tx store.Tx, info turn.SessionInfo, st *standing, opened *turn.Turn) error {
	since := []turn.Turn{*opened}
	if opened.Seq > 0 && opened.Seq < info.Head {
		summaries, err := found(ctx, tx, info, turn.Query{Kind: turn.KindSummary, From: opened.Seq + 1, Limit: MaxTurns})
		if err != nil {
			return err
		}
		since = append(since, summaries...)
	}
	others, err := taken(ctx, tx, info, st, since)
	if e := others[opened.ID]; err == nil && e != nil {
		return partOf(opened.ID, e)
	}
	return err
}

// take notes the turns that an export tells of: where nobody kept which these are, all that its summary covers.
func take(by map[string]*event.Export, e *event.Export, covers turn.Range, turns []turn.Turn) {
	if o, err := outboxedFields.Decode(e.Body); e.Body != "" && err == nil {
		for _, id := range o.export.TurnIDs {
			by[id] = e
		}
		return
	}
	for i := range turns {
		if seq := turns[i].Seq; covers.From <= seq && seq <= covers.To {
			by[turns[i].ID] = e
		}
	}
}

// idAt is the id of the turn of that seq, which may be one of those given.
func idAt(ctx context.Context, tx store.Tx, info turn.SessionInfo, seq int64, turns []turn.Turn) (string, error) {
	if i := slices.IndexFunc(turns, func(t turn.Turn) bool { return t.Seq == seq }); i >= 0 {
		return turns[i].ID, nil
	}
	one, err := found(ctx, tx, info, turn.Query{From: seq, To: seq, Limit: 1})
	if err != nil || len(one) == 0 {
		return "", err
	}
	return one[0].ID, nil
}
