package turn

import (
	"context"
	"time"
)

// Try refuses sealed turns that [Extend] would refuse after what is in the session's log now, with the same errors, and writes
// nothing. Only that an id is new is left to Extend. The session need not be there.
func Try(ctx context.Context, rows Appender, s SessionInfo, drafts ...Sealed) error {
	_, err := Extend(ctx, &trial{Appender: rows, session: s, keyed: make(map[string]Turn), sizes: make(map[string]int64)}, s, time.Time{}, drafts...)
	return err
}

// trial keeps what would be written, and reads the rest.
type trial struct {
	Appender
	session SessionInfo
	open    map[string]OpenCall // nil: they were not read yet
	keyed   map[string]Turn
	sizes   map[string]int64 // of blobs
}

func (t *trial) InsertTurns(_ context.Context, _ string, _ int64, rows ...Row) error {
	for _, r := range rows {
		if r.IdempotencyKey != "" {
			t.keyed[r.IdempotencyKey] = r.Turn
		}
	}
	return nil
}

func (t *trial) Advance(context.Context, Key, int64, time.Time) error { return nil }

func (t *trial) TurnByKey(ctx context.Context, tenant string, segment int64, key string) (Turn, bool, error) {
	if first, found := t.keyed[key]; found {
		return first, true, nil
	}
	return t.Appender.TurnByKey(ctx, tenant, segment, key)
}

func (t *trial) TurnsByID(context.Context, string, string) ([]Stored, error) { return nil, nil }

// calls are those that are open by now.
func (t *trial) calls(ctx context.Context) (map[string]OpenCall, error) {
	if t.open != nil {
		return t.open, nil
	}
	open, err := t.OpenCalls(ctx, t.session.Tenant, t.session.Segment)
	if err != nil {
		return nil, err
	}
	t.open = make(map[string]OpenCall)
	for _, c := range open {
		t.open[c.ID] = c
	}
	return t.open, nil
}

func (t *trial) InsertOpenCall(ctx context.Context, _ string, _ int64, c OpenCall) error {
	open, err := t.calls(ctx)
	if err != nil {
		return err
	}
	if _, still := open[c.ID]; still {
		return ErrConflict
	}
	open[c.ID] = c
	return nil
}

func (t *trial) DeleteOpenCall(ctx context.Context, _ string, _ int64, id string) (OpenCall, error) {
	open, err := t.calls(ctx)
	if err != nil {
		return OpenCall{}, err
	}
	c, found := open[id]
	if !found {
		return OpenCall{}, ErrNotFound
	}
	delete(open, id)
	return c, nil
}

func (t *trial) PutBlob(_ context.Context, _ string, b Blob, _ time.Time, _, _ int64) error {
	t.sizes[b.SHA256] = b.Size
	return nil
}

func (t *trial) BlobSize(ctx context.Context, tenant, sha256 string) (int64, error) {
	if size, found := t.sizes[sha256]; found {
		return size, nil
	}
	return t.Appender.BlobSize(ctx, tenant, sha256)
}
