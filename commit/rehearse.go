package commit

import (
	"context"
	"fmt"
	"time"

	"github.com/turnstone-dev/turnstone/turn"
)

// foretell refuses what the log would refuse once what waits before it is written: when it is tried again nobody hears of that any
// more. The turns themselves stand in the export.
func (h *historyPart) foretell(ctx context.Context, _ *Pipeline, at *place) error {
	log, info, err := rehearse(ctx, at)
	if err != nil {
		return err
	}
	log.strict = true
	_, err = turn.Extend(ctx, log, info, at.now, h.sealed...)
	return ofTurns(err)
}

// rehearsal is a log that is extended without being written to.
type rehearsal struct {
	turn.Rows
	calls  map[string]turn.OpenCall
	ids    map[string]bool      // of the turns that it was extended by
	keys   map[string]turn.Turn // those of them that have an idempotency key
	blobs  map[string]int64
	strict bool // ids are looked up in the log too
	undo   []func()
}

// rehearse returns the log of the place as it will be once what waits is written, as far as it ever will be, and the session.
func rehearse(ctx context.Context, at *place) (*rehearsal, turn.SessionInfo, error) {
	info := at.info
	log := &rehearsal{
		Rows: at.tx.Log(), calls: make(map[string]turn.OpenCall), ids: make(map[string]bool),
		keys: make(map[string]turn.Turn), blobs: make(map[string]int64),
	}
	calls, err := log.Rows.OpenCalls(ctx, info.Tenant, info.Segment)
	if err != nil {
		return nil, info, err
	}
	for _, c := range calls {
		log.calls[c.ID] = c
	}
	if !at.before.waiting[History] {
		return log, info, nil
	}
	open, err := openDeferrals(ctx, at.tx, info.Key)
	if err != nil {
		return nil, info, err
	}
	for _, d := range open {
		if Target(d.Target) != History {
			continue
		}
		part, err := decodePart(History, d.Payload)
		if err != nil {
			continue // it will be given up
		}
		log.undo = nil
		turns, err := turn.Extend(ctx, log, info, at.now, part.(*historyPart).sealed...)
		if err != nil {
			log.back() // so will this
			continue
		}
		for _, t := range turns {
			info.Head = max(info.Head, t.Seq)
		}
		info.Head++ // its summary
	}
	return log, info, nil
}

// back takes back what was done since undo was emptied.
func (r *rehearsal) back() {
	for i := range r.undo {
		r.undo[len(r.undo)-1-i]()
	}
}

func (r *rehearsal) InsertTurns(ctx context.Context, tenant string, segment int64, rows ...turn.Row) error {
	for i := range rows {
		t := rows[i].Turn
		taken := r.ids[t.ID]
		if r.strict && !taken {
			stored, err := r.Rows.TurnsByID(ctx, tenant, t.ID)
			if err != nil {
				return err
			}
			for _, s := range stored {
				taken = taken || s.Segment == segment
			}
		}
		if taken {
			return fmt.Errorf("turn id %s is that of another turn: %w", t.ID, turn.ErrConflict)
		}
		r.ids[t.ID] = true
		r.undo = append(r.undo, func() { delete(r.ids, t.ID) })
		if t.IdempotencyKey != "" {
			r.keys[t.IdempotencyKey] = t
			r.undo = append(r.undo, func() { delete(r.keys, t.IdempotencyKey) })
		}
	}
	return nil
}

func (r *rehearsal) TurnByKey(ctx context.Context, tenant string, segment int64, key string) (turn.Turn, bool, error) {
	if t, found := r.keys[key]; found {
		return t, true, nil
	}
	return r.Rows.TurnByKey(ctx, tenant, segment, key)
}

func (r *rehearsal) Advance(context.Context, turn.Key, int64, time.Time) error { return nil }

func (r *rehearsal) InsertOpenCall(_ context.Context, _ string, _ int64, c turn.OpenCall) error {
	if _, open := r.calls[c.ID]; open {
		return turn.ErrConflict
	}
	r.calls[c.ID] = c
	r.undo = append(r.undo, func() { delete(r.calls, c.ID) })
	return nil
}

func (r *rehearsal) DeleteOpenCall(_ context.Context, _ string, _ int64, id string) (turn.OpenCall, error) {
	c, open := r.calls[id]
	if !open {
		return c, turn.ErrNotFound
	}
	delete(r.calls, id)
	r.undo = append(r.undo, func() { r.calls[id] = c })
	return c, nil
}

func (r *rehearsal) BlobSize(ctx context.Context, tenant, sha256 string) (int64, error) {
	if size, known := r.blobs[sha256]; known {
		return size, nil
	}
	return r.Rows.BlobSize(ctx, tenant, sha256)
}

func (r *rehearsal) PutBlob(_ context.Context, _ string, b turn.Blob, _ time.Time, _, _ int64) error {
	r.blobs[b.SHA256] = b.Size // it will be sent with what waits, if that is ever written
	return nil
}
