package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// ScanSQL is the statement of a Scan; its arguments are those of ScanArgs.
func ScanSQL(f turn.RowFilter) string { return scanSQL(f) }

// ScanArgs are the arguments of ScanSQL.
func ScanArgs(tenant string, s turn.Span, f turn.RowFilter, limit int) []any {
	return append([]any{tenant, s.Segment}, filterArgs(s, f, limit)...)
}

// TextSQL is the statement of TextHits; its arguments are those of ScanArgs and the tokens.
const TextSQL = textHits + textHitsOf

// ScopeToken is the token of a segment.
func ScopeToken(segment int64) string { return scopeToken(segment) }

// Connection runs fn on one of the store's own connections.
func (s *Store) Connection(ctx context.Context, fn func(*pgx.Conn) error) error {
	return s.bare(ctx, fn)
}

// Synchronous is how an update of a store will be committed.
func Synchronous(ctx context.Context, st store.Tx) (how string, err error) {
	err = st.(*tx).row(ctx, func(row pgx.Row) error { return row.Scan(&how) }, `SHOW synchronous_commit`)
	return how, err
}

// What one step of the index takes at most, and Close.
const (
	IndexRows = indexRows
	LastRows  = lastRows
)

// GiveClose has Close wait so long for what it still indexes, however slow the machine is.
func (s *Store) GiveClose(last time.Duration) { s.index.last = last }

// Derived are the tables beyond those of store.Schema.
var Derived = derived

// NewestLive is the statement of Newest for what is live; its arguments are the tenant, the segments
// and the ends of the spans. LoadHeads is that which makes intention_heads.
const (
	NewestLive = newestLive
	LoadHeads  = loadHeads
)

// ItemsSQL is the statement of Items with its arguments.
func ItemsSQL(f memory.Filter) (string, []any) { return itemsSQL(f, f.Terms) }

// PublishedOf and SweptThrough are the statements of that name; the first one's arguments are the tenant, the last number and
// how many.
const (
	PublishedOf  = publishedOf
	SweptThrough = sweptThrough
)

// ClaimPage is how many sessions a Publish looks at together.
const ClaimPage = claimPage

// LastEpochSQL and LastCallSQL are statements whose arguments are the tenant, the segments and the ends
// of the spans, and the last turn of a call. LoadEnds is that which makes prompt_ends.
const (
	LastEpochSQL = lastEpochSQL
	LastCallSQL  = lastCallSQL
	LoadEnds     = loadEnds
)

// Statements over checkpoints and snapshots, and that which makes what prompt_ends holds of checkpoints.
// Their first arguments are the tenant, the segments and the ends of the spans.
const (
	CheckpointSQL       = checkpointSQL
	CheckpointsSQL      = checkpointsSQL
	LastNumberSQL       = lastNumberSQL
	SnapshotSQL         = snapshotSQL
	SnapshotsSQL        = snapshotsSQL
	EarlierSnapshotsSQL = earlierSnapshotsSQL
	LoadCheckpointEnds  = loadCheckpointEnds
)
