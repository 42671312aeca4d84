package replay_test

import (
	"context"
	"errors"
	"time"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/internal/span"
	"github.com/turnstone-dev/turnstone/snapshot"
)

func (t faultyTx) Compress() compress.Rows { return faultyCompress{t.Tx.Compress(), t.f} }
func (t faultyTx) Snapshot() snapshot.Rows { return faultySnapshot{t.Tx.Snapshot(), t.f} }

type faultyCompress struct {
	compress.Rows
	f *faulty
}

func (c faultyCompress) InsertCheckpoint(ctx context.Context, tenant string, segment int64, r compress.Row) error {
	return errors.Join(c.f.write(), c.Rows.InsertCheckpoint(ctx, tenant, segment, r))
}

func (c faultyCompress) PutBreaker(ctx context.Context, tenant string, segment int64, doc string, at time.Time) error {
	return errors.Join(c.f.write(), c.Rows.PutBreaker(ctx, tenant, segment, doc, at))
}

type faultySnapshot struct {
	snapshot.Rows
	f *faulty
}

func (s faultySnapshot) InsertSnapshot(ctx context.Context, tenant string, segment int64, r snapshot.Row) error {
	return errors.Join(s.f.write(), s.Rows.InsertSnapshot(ctx, tenant, segment, r))
}

func (u unread) Compress() compress.Rows { return unreadCompress{u.Tx.Compress(), u} }
func (u unread) Snapshot() snapshot.Rows { return unreadSnapshot{u.Tx.Snapshot(), u} }

type unreadCompress struct {
	compress.Rows
	u unread
}

func (c unreadCompress) Checkpoints(ctx context.Context, tenant string, spans []span.Span, after int64, limit int) ([]compress.Row, error) {
	rows, err := c.Rows.Checkpoints(ctx, tenant, spans, after, limit)
	return rows, errors.Join(err, c.u.read("Checkpoints"))
}

func (c unreadCompress) Breaker(ctx context.Context, tenant string, segment int64) (string, bool, error) {
	doc, ok, err := c.Rows.Breaker(ctx, tenant, segment)
	return doc, ok, errors.Join(err, c.u.read("Breaker"))
}

type unreadSnapshot struct {
	snapshot.Rows
	u unread
}

func (s unreadSnapshot) Snapshots(ctx context.Context, tenant string, spans []span.Span, before string, limit int) ([]snapshot.Row, error) {
	rows, err := s.Rows.Snapshots(ctx, tenant, spans, before, limit)
	return rows, errors.Join(err, s.u.read("Snapshots"))
}
