package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/internal/span"
)

// compressRows is the transaction as checkpoints see it.
type compressRows struct{ *tx }

const (
	checkpointColumns = `number, version, after_seq, doc, created_at`

	// OFFSET 0 keeps the row from being joined in another way than by its key.
	checkpointSQL = `SELECT row.*` + fromSpans + `LATERAL (SELECT ` + checkpointColumns + ` FROM checkpoints
			WHERE tenant = $1 AND segment = span.segment AND number = $4 AND version = $5 AND after_seq <= span.to_seq OFFSET 0) AS row
		ORDER BY span.position DESC LIMIT 1`

	// The numbers come first, since the limit is one on them and each has several versions.
	checkpointsSQL = `WITH numbers AS (SELECT DISTINCT seen.number` + fromSpans + `LATERAL (SELECT DISTINCT number FROM checkpoints
			WHERE tenant = $1 AND segment = span.segment AND number > $4 AND after_seq <= span.to_seq ORDER BY number LIMIT $5) AS seen
			ORDER BY seen.number LIMIT $5)
		SELECT row.*` + fromSpans + `LATERAL (SELECT ` + checkpointColumns + ` FROM checkpoints
			WHERE tenant = $1 AND segment = span.segment AND number > $4 AND number <= (SELECT max(number) FROM numbers)
				AND after_seq <= span.to_seq) AS row
		ORDER BY row.number, row.version, span.position`

	lastNumberSQL = `SELECT coalesce(max(ending.number), 0)` + fromSpans + `LATERAL (SELECT number FROM prompt_ends
			WHERE tenant = $1 AND segment = span.segment AND kind = 'checkpoints' AND end_seq <= span.to_seq ORDER BY end_seq DESC LIMIT 1) AS ending`

	// loadCheckpointEnds makes what prompt_ends holds of checkpoints. A number has several versions: the
	// first of them is where it comes along.
	loadCheckpointEnds = `INSERT INTO prompt_ends (tenant, segment, kind, end_seq, number)
		SELECT tenant, segment, 'checkpoints', end_seq, number FROM (SELECT *, min(end_seq) OVER
			(PARTITION BY tenant, segment ORDER BY number DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS later
			FROM (SELECT tenant, segment, number, min(after_seq) AS end_seq FROM checkpoints GROUP BY tenant, segment, number) AS every) AS ending
		WHERE later IS NULL OR end_seq < later`
)

// InsertCheckpoint implements [compress.Rows].
func (r compressRows) InsertCheckpoint(ctx context.Context, tenant string, segment int64, row compress.Row) error {
	what := fmt.Sprintf("version %d of checkpoint %d", row.Version, row.Number)
	err := r.insert(ctx, what, compress.ErrStale,
		`INSERT INTO checkpoints (tenant, segment, number, version, after_seq, doc, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		tenant, segment, row.Number, row.Version, row.AfterSeq, row.Doc, row.At.UnixMicro())
	if err != nil {
		return err
	}
	return promptRows(r).end(ctx, what, tenant, segment, "checkpoints", row.AfterSeq, row.Number)
}

func scanCheckpoint(row pgx.Row) (r compress.Row, err error) {
	err = row.Scan(&r.Number, &r.Version, &r.AfterSeq, &r.Doc, (*stamp)(&r.At))
	return r, err
}

// Checkpoint implements [compress.Rows].
func (r compressRows) Checkpoint(ctx context.Context, tenant string, spans []span.Span, number, version int64) (compress.Row, error) {
	segments, ends := along(spans)
	row, ok, err := one(ctx, r.tx, scanCheckpoint, checkpointSQL, tenant, segments, ends, number, version)
	if err == nil && !ok {
		err = compress.ErrNotFound
	}
	return row, err
}

// Checkpoints implements [compress.Rows].
func (r compressRows) Checkpoints(ctx context.Context, tenant string, spans []span.Span, after int64, limit int) ([]compress.Row, error) {
	segments, ends := along(spans)
	return list(ctx, r.tx, scanCheckpoint, checkpointsSQL, tenant, segments, ends, after, max(limit, 0))
}

// LastNumber implements [compress.Rows].
func (r compressRows) LastNumber(ctx context.Context, tenant string, spans []span.Span) (number int64, err error) {
	segments, ends := along(spans)
	err = r.row(ctx, func(row pgx.Row) error { return row.Scan(&number) }, lastNumberSQL, tenant, segments, ends)
	return number, err
}

// PutBreaker implements [compress.Rows].
func (r compressRows) PutBreaker(ctx context.Context, tenant string, segment int64, doc string, at time.Time) error {
	return r.write(ctx, "failed passes", `INSERT INTO breakers (tenant, segment, doc, changed_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (tenant, segment) DO UPDATE SET doc = excluded.doc, changed_at = excluded.changed_at`,
		tenant, segment, doc, at.UnixMicro())
}

// Breaker implements [compress.Rows].
func (r compressRows) Breaker(ctx context.Context, tenant string, segment int64) (doc string, ok bool, err error) {
	return one(ctx, r.tx, func(row pgx.Row) (doc string, err error) {
		err = row.Scan(&doc)
		return doc, err
	}, `SELECT doc FROM breakers WHERE tenant = $1 AND segment = $2`, tenant, segment)
}
