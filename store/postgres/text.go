package postgres

import (
	"context"
	"errors"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/turn"
)

// scopeToken stands in the index with every turn of a segment, so that a search inside a session
// does not touch the postings of others. Terms hold no ASCII punctuation, so it is none of them.
func scopeToken(segment int64) string { return "segment:" + strconv.FormatInt(segment, 10) }

// TextMark implements [turn.TextRows].
func (r logRows) TextMark(ctx context.Context, tenant string, segment int64) (mark int64, err error) {
	err = r.row(ctx, func(row pgx.Row) error { return row.Scan(&mark) },
		`SELECT through_seq FROM text_marks WHERE tenant = $1 AND segment = $2`, tenant, segment)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	return mark, err
}

// textHits looks each hit up by its key: OFFSET 0 keeps the planner from joining in another way, which
// it does, badly, as long as it has no statistics.
const (
	textHits = `SELECT t.* FROM turn_text x, LATERAL (SELECT ` + turnColumns + ` FROM turns t
		WHERE t.tenant = $1 AND t.segment = $2 AND t.seq = x.seq` + rowFilter
	textHitsOf = ` OFFSET 0) t WHERE x.tokens @> $11 AND x.tenant = $1 AND x.segment = $2 AND x.seq BETWEEN $3 AND $4
		ORDER BY x.seq LIMIT $10`
)

// TextHits implements [turn.TextRows].
func (r logRows) TextHits(ctx context.Context, tenant string, s turn.Span, terms []string, f turn.RowFilter, limit int) ([]turn.Turn, error) {
	sql := textHits
	if f.Utterances {
		sql += onlyUtterances
	}
	tokens := append([]string{scopeToken(s.Segment)}, terms...)
	args := append([]any{tenant, s.Segment}, filterArgs(s, f, limit)...)
	return r.turns(ctx, sql+textHitsOf, append(args, tokens)...)
}
