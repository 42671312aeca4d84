package turn

import (
	"context"
	"fmt"
	"time"
)

// Trial is a session's log that is extended without being written to: it tells what [Extend] would refuse after that.
type Trial struct {
	session SessionInfo
	rows    trialRows
}

// NewTrial begins with the log as it is. The session need not be there.
func NewTrial(rows Appender, s SessionInfo) *Trial {
	return &Trial{session: s, rows: trialRows{
		Appender: rows, ids: make(map[string]bool), keyed: make(map[string]Turn), sizes: make(map[string]int64),
	}}
}

// Extend refuses what [Extend] would refuse, with the same errors. What is refused counts for nothing that comes after.
func (t *Trial) Extend(ctx context.Context, drafts ...Sealed) error {
	t.rows.undo = nil
	turns, err := Extend(ctx, &t.rows, t.session, time.Time{}, drafts...)
	if err != nil {
		t.rows.back()
		return err
	}
	for i := range turns {
		t.session.Head = max(t.session.Head, turns[i].Seq)
	}
	return nil
}

// Skip leaves a place to a turn of which nothing else matters.
func (t *Trial) Skip() { t.session.Head++ }

// trialRows keeps what would be written, and reads the rest.
type trialRows struct {
	Appender
	open  map[string]OpenCall // nil: they were not read yet
	ids   map[string]bool
	keyed map[string]Turn
	sizes map[string]int64 // of blobs, which are sent along even if their turn is refused
	undo  []func()
}

// back takes back what was done since undo was emptied.
func (r *trialRows) back() {
	for i := range r.undo {
		r.undo[len(r.undo)-1-i]()
	}
}

func (r *trialRows) InsertTurns(ctx context.Context, tenant string, segment int64, rows ...Row) error {
	for i := range rows {
		t := rows[i].Turn
		stored, err := r.TurnsByID(ctx, tenant, t.ID)
		if err != nil {
			return err
		}
		taken := r.ids[t.ID]
		for j := range stored {
			taken = taken || stored[j].Segment == segment
		}
		if taken {
			return fmt.Errorf("turn id %s is that of another turn: %w", t.ID, ErrConflict)
		}
		r.ids[t.ID] = true
		r.undo = append(r.undo, func() { delete(r.ids, t.ID) })
		if t.IdempotencyKey != "" {
			r.keyed[t.IdempotencyKey] = t
			r.undo = append(r.undo, func() { delete(r.keyed, t.IdempotencyKey) })
		}
	}
	return nil
}

func (r *trialRows) Advance(context.Context, Key, int64, time.Time) error { return nil }

func (r *trialRows) TurnByKey(ctx context.Context, tenant string, segment int64, key string) (Turn, bool, error) {
	if first, found := r.keyed[key]; found {
		return first, true, nil
	}
	return r.Appender.TurnByKey(ctx, tenant, segment, key)
}

func (r *trialRows) InsertOpenCall(ctx context.Context, tenant string, segment int64, c OpenCall) error {
	_, found, err := r.call(ctx, tenant, segment, c.ID)
	if err != nil {
		return err
	}
	if found {
		return ErrConflict
	}
	r.open[c.ID] = c
	r.undo = append(r.undo, func() { delete(r.open, c.ID) })
	return nil
}

func (r *trialRows) DeleteOpenCall(ctx context.Context, tenant string, segment int64, id string) (OpenCall, error) {
	c, found, err := r.call(ctx, tenant, segment, id)
	if err != nil {
		return OpenCall{}, err
	}
	if !found {
		return OpenCall{}, ErrNotFound
	}
	delete(r.open, id)
	r.undo = append(r.undo, func() { r.open[id] = c })
	return c, nil
}

// call is the call of that id, if it is open by now.
func (r *trialRows) call(ctx context.Context, tenant string, segment int64, id string) (OpenCall, bool, error) {
	if r.open == nil {
		calls, err := r.OpenCalls(ctx, tenant, segment)
		if err != nil {
			return OpenCall{}, false, err
		}
		r.open = make(map[string]OpenCall)
		for _, c := range calls {
			r.open[c.ID] = c
		}
	}
	c, found := r.open[id]
	return c, found, nil
}

func (r *trialRows) PutBlob(_ context.Context, _ string, b Blob, _ time.Time, _, _ int64) error {
	r.sizes[b.SHA256] = b.Size
	return nil
}

func (r *trialRows) BlobSize(ctx context.Context, tenant, sha256 string) (int64, error) {
	if size, found := r.sizes[sha256]; found {
		return size, nil
	}
	return r.Appender.BlobSize(ctx, tenant, sha256)
}
