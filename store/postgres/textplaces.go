package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/turn"
)

// wantedSpans is a table of spans, $2 to $4, n being their order.
const wantedSpans = `unnest($2::bigint[], $3::bigint[], $4::bigint[]) WITH ORDINALITY AS s (segment, first, last, n)`

func spanArgs(tenant string, spans []turn.Span) []any {
	segments, first, last := make([]int64, len(spans)), make([]int64, len(spans)), make([]int64, len(spans))
	for i, s := range spans {
		segments[i], first[i], last[i] = s.Segment, s.From, s.To
	}
	return []any{tenant, segments, first, last}
}

// TextTails implements [turn.TextRows].
func (r logRows) TextTails(ctx context.Context, tenant string, spans []turn.Span) (tails []turn.Span, err error) {
	err = r.query(ctx, func(rows pgx.Rows) error {
		for rows.Next() {
			var s turn.Span
			if err := rows.Scan(&s.Segment, &s.From, &s.To); err != nil {
				return err
			}
			tails = append(tails, s)
		}
		return nil
	}, `SELECT s.segment, greatest(s.first, coalesce(m.through_seq, 0) + 1), s.last
		FROM `+wantedSpans+` LEFT JOIN text_marks m ON m.tenant = $1 AND m.segment = s.segment
		WHERE s.last >= s.first AND s.last > coalesce(m.through_seq, 0) ORDER BY s.n`, spanArgs(tenant, spans)...)
	return tails, err
}

// TextPlaces implements [turn.TextRows].
func (r logRows) TextPlaces(ctx context.Context, tenant string, spans []turn.Span, term string, limit int) (found []turn.Place, err error) {
	tokens := []string{term}
	if len(spans) == 1 {
		tokens = append(tokens, scopeToken(spans[0].Segment))
	}
	err = r.query(ctx, func(rows pgx.Rows) error {
		for rows.Next() {
			var at turn.Place
			if err := rows.Scan(&at.Segment, &at.Seq); err != nil {
				return err
			}
			found = append(found, at)
		}
		return nil
	}, // OFFSET 0 has the index asked for the tokens first, whatever the planner thinks of them.
		`SELECT x.segment, x.seq FROM (SELECT segment, seq FROM turn_text WHERE tokens @> $5 AND tenant = $1 OFFSET 0) x
		JOIN `+wantedSpans+` ON x.segment = s.segment AND x.seq BETWEEN s.first AND s.last
		ORDER BY s.n, x.seq DESC LIMIT $6`, append(spanArgs(tenant, spans), tokens, int64(max(0, limit)))...)
	return found, err
}
