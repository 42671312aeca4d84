package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/internal/span"
	"github.com/turnstone-dev/turnstone/prompt"
)

// promptRows is the transaction as prompts see it.
type promptRows struct{ *tx }

// The statements read one row, or one range of rows, in each span. Where several spans have the same
// number, that of the newest span is the last.
const (
	fromSpans     = ` FROM unnest($2::bigint[], $3::bigint[]) WITH ORDINALITY AS span (segment, to_seq, position), `
	highestNumber = ` ORDER BY row.number DESC, span.position DESC LIMIT 1`
	byNumber      = ` ORDER BY row.number, span.position`

	epochColumns = `number, after_seq, doc, created_at`
	callColumns  = `number, end_seq, epoch, doc, sha256, created_at`
	pinColumns   = `number, after_seq, seq, pinned, created_at`

	// Every number is above 0. That it says so keeps the planner on the index as long as it has no
	// statistics; otherwise it reads all epochs of the segment to sort them.
	lastEpochSQL = `SELECT row.*` + fromSpans + `LATERAL (SELECT ` + epochColumns + ` FROM epochs
			WHERE tenant = $1 AND segment = span.segment AND number > 0 AND after_seq <= span.to_seq ORDER BY number DESC LIMIT 1) AS row` + highestNumber
	epochSQL = `SELECT row.*` + fromSpans + `LATERAL (SELECT ` + epochColumns + ` FROM epochs
			WHERE tenant = $1 AND segment = span.segment AND number = $4 AND after_seq <= span.to_seq) AS row` + highestNumber
	epochsSQL = `SELECT row.*` + fromSpans + `LATERAL (SELECT ` + epochColumns + ` FROM epochs
			WHERE tenant = $1 AND segment = span.segment AND number > $4 AND after_seq <= span.to_seq ORDER BY number LIMIT $5) AS row` +
		byNumber + ` LIMIT $5`

	// OFFSET 0 keeps the end that was found from being joined in another way.
	lastCallSQL = `SELECT row.*` + fromSpans + `LATERAL (SELECT number FROM prompt_ends
			WHERE tenant = $1 AND segment = span.segment AND end_seq <= least(span.to_seq, $4) ORDER BY end_seq DESC LIMIT 1) AS ending,
		LATERAL (SELECT ` + callColumns + ` FROM prompts
			WHERE tenant = $1 AND segment = span.segment AND number = ending.number OFFSET 0) AS row` + highestNumber
	callsSQL = `SELECT row.*` + fromSpans + `LATERAL (SELECT ` + callColumns + ` FROM prompts
			WHERE tenant = $1 AND segment = span.segment AND number > $4 AND end_seq <= span.to_seq ORDER BY number LIMIT $5) AS row` +
		byNumber + ` LIMIT $5`

	pinsSQL = `SELECT row.*` + fromSpans + `LATERAL (SELECT ` + pinColumns + ` FROM pins
			WHERE tenant = $1 AND segment = span.segment AND after_seq <= span.to_seq) AS row` + byNumber
)

// found is the row of a statement that reads at most one.
func found[T any](row T, ok bool, err error) (T, error) {
	if err == nil && !ok {
		err = prompt.ErrNotFound
	}
	return row, err
}

// InsertEpoch implements [prompt.Rows].
func (r promptRows) InsertEpoch(ctx context.Context, tenant string, segment int64, e prompt.EpochRow) error {
	return r.insert(ctx, fmt.Sprintf("epoch %d", e.Number), prompt.ErrStale,
		`INSERT INTO epochs (tenant, segment, number, after_seq, doc, created_at) VALUES ($1, $2, $3, $4, $5, $6)`,
		tenant, segment, e.Number, e.AfterSeq, e.Doc, e.At.UnixMicro())
}

func scanEpoch(row pgx.Row) (e prompt.EpochRow, err error) {
	err = row.Scan(&e.Number, &e.AfterSeq, &e.Doc, (*stamp)(&e.At))
	return e, err
}

// LastEpoch implements [prompt.Rows].
func (r promptRows) LastEpoch(ctx context.Context, tenant string, spans []span.Span) (prompt.EpochRow, error) {
	segments, ends := along(spans)
	return found(one(ctx, r.tx, scanEpoch, lastEpochSQL, tenant, segments, ends))
}

// Epoch implements [prompt.Rows].
func (r promptRows) Epoch(ctx context.Context, tenant string, spans []span.Span, number int64) (prompt.EpochRow, error) {
	segments, ends := along(spans)
	return found(one(ctx, r.tx, scanEpoch, epochSQL, tenant, segments, ends, number))
}

// Epochs implements [prompt.Rows].
func (r promptRows) Epochs(ctx context.Context, tenant string, spans []span.Span, after int64, limit int) ([]prompt.EpochRow, error) {
	segments, ends := along(spans)
	return list(ctx, r.tx, scanEpoch, epochsSQL, tenant, segments, ends, after, max(limit, 0))
}

// InsertCall implements [prompt.Rows].
func (r promptRows) InsertCall(ctx context.Context, tenant string, segment int64, c prompt.CallRow) error {
	what := fmt.Sprintf("prompt %d", c.Number)
	err := r.insert(ctx, what, prompt.ErrStale,
		`INSERT INTO prompts (tenant, segment, number, end_seq, epoch, doc, sha256, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		tenant, segment, c.Number, c.End, c.Epoch, c.Doc, c.SHA256, c.At.UnixMicro())
	if err != nil {
		return err
	}
	err = r.write(ctx, what, `DELETE FROM prompt_ends WHERE tenant = $1 AND segment = $2 AND end_seq >= $3 AND number < $4`,
		tenant, segment, c.End, c.Number)
	if err != nil {
		return err
	}
	return r.write(ctx, what, `INSERT INTO prompt_ends AS e (tenant, segment, end_seq, number) SELECT $1, $2, $3, $4
		WHERE NOT coalesce((SELECT number > $4 FROM prompt_ends WHERE tenant = $1 AND segment = $2 AND end_seq <= $3
			ORDER BY end_seq DESC LIMIT 1), false)
		ON CONFLICT (tenant, segment, end_seq) DO UPDATE SET number = greatest(e.number, excluded.number)`,
		tenant, segment, c.End, c.Number)
}

// loadEnds makes prompt_ends anew.
const loadEnds = `INSERT INTO prompt_ends (tenant, segment, end_seq, number)
	SELECT tenant, segment, end_seq, number FROM (SELECT tenant, segment, end_seq, number, min(end_seq) OVER
		(PARTITION BY tenant, segment ORDER BY number DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS later FROM prompts) AS ending
	WHERE later IS NULL OR end_seq < later`

func scanCall(row pgx.Row) (c prompt.CallRow, err error) {
	err = row.Scan(&c.Number, &c.End, &c.Epoch, &c.Doc, &c.SHA256, (*stamp)(&c.At))
	return c, err
}

// LastCall implements [prompt.Rows].
func (r promptRows) LastCall(ctx context.Context, tenant string, spans []span.Span, end int64) (prompt.CallRow, error) {
	segments, ends := along(spans)
	return found(one(ctx, r.tx, scanCall, lastCallSQL, tenant, segments, ends, end))
}

// Calls implements [prompt.Rows].
func (r promptRows) Calls(ctx context.Context, tenant string, spans []span.Span, after int64, limit int) ([]prompt.CallRow, error) {
	segments, ends := along(spans)
	return list(ctx, r.tx, scanCall, callsSQL, tenant, segments, ends, after, max(limit, 0))
}
