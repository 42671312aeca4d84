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

	// OFFSET 0 keeps the row from being joined in another way than by the number that was found.
	lastOf = `SELECT row.*` + fromSpans + `LATERAL (SELECT number FROM prompt_ends WHERE tenant = $1 AND segment = span.segment AND kind = `

	lastEpochSQL = lastOf + `'epochs' AND end_seq <= span.to_seq ORDER BY end_seq DESC LIMIT 1) AS ending,
		LATERAL (SELECT ` + epochColumns + ` FROM epochs
			WHERE tenant = $1 AND segment = span.segment AND number = ending.number OFFSET 0) AS row` + highestNumber
	epochSQL = `SELECT row.*` + fromSpans + `LATERAL (SELECT ` + epochColumns + ` FROM epochs
			WHERE tenant = $1 AND segment = span.segment AND number = $4 AND after_seq <= span.to_seq) AS row` + highestNumber
	epochsSQL = `SELECT row.*` + fromSpans + `LATERAL (SELECT ` + epochColumns + ` FROM epochs
			WHERE tenant = $1 AND segment = span.segment AND number > $4 AND after_seq <= span.to_seq ORDER BY number LIMIT $5) AS row` +
		byNumber + ` LIMIT $5`

	lastCallSQL = lastOf + `'prompts' AND end_seq <= least(span.to_seq, $4) ORDER BY end_seq DESC LIMIT 1) AS ending,
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
	what := fmt.Sprintf("epoch %d", e.Number)
	err := r.insert(ctx, what, prompt.ErrStale,
		`INSERT INTO epochs (tenant, segment, number, after_seq, doc, created_at) VALUES ($1, $2, $3, $4, $5, $6)`,
		tenant, segment, e.Number, e.AfterSeq, e.Doc, e.At.UnixMicro())
	if err != nil {
		return err
	}
	return r.end(ctx, what, tenant, segment, "epochs", e.AfterSeq, e.Number)
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
	return r.end(ctx, what, tenant, segment, "prompts", c.End, c.Number)
}

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
