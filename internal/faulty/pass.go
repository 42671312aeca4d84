package faulty

import (
	"context"
	"time"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/snapshot"
)

// Prompt implements [store.Tx].
func (t *tx) Prompt() prompt.Rows { return promptRows{t.Tx.Prompt(), t.s} }

// Compress implements [store.Tx].
func (t *tx) Compress() compress.Rows { return compressRows{t.Tx.Compress(), t.s} }

// Snapshot implements [store.Tx].
func (t *tx) Snapshot() snapshot.Rows { return snapshotRows{t.Tx.Snapshot(), t.s} }

type promptRows struct {
	prompt.Rows
	s *Store
}

func (r promptRows) InsertEpoch(ctx context.Context, tenant string, segment int64, e prompt.EpochRow) error {
	if err := r.s.at("InsertEpoch"); err != nil {
		return err
	}
	return r.Rows.InsertEpoch(ctx, tenant, segment, e)
}

type compressRows struct {
	compress.Rows
	s *Store
}

func (r compressRows) InsertCheckpoint(ctx context.Context, tenant string, segment int64, row compress.Row) error {
	if err := r.s.at("InsertCheckpoint"); err != nil {
		return err
	}
	return r.Rows.InsertCheckpoint(ctx, tenant, segment, row)
}

func (r compressRows) PutBreaker(ctx context.Context, tenant string, segment int64, doc string, at time.Time) error {
	if err := r.s.at("PutBreaker"); err != nil {
		return err
	}
	return r.Rows.PutBreaker(ctx, tenant, segment, doc, at)
}

type snapshotRows struct {
	snapshot.Rows
	s *Store
}

func (r snapshotRows) InsertSnapshot(ctx context.Context, tenant string, segment int64, row snapshot.Row) error {
	if err := r.s.at("InsertSnapshot"); err != nil {
		return err
	}
	return r.Rows.InsertSnapshot(ctx, tenant, segment, row)
}
