package postgres

import (
	"context"
	"errors"
	"iter"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/dialogue"
)

// dialogueRows is the transaction as dialogue state sees it.
type dialogueRows struct{ *tx }

// along are spans as two arrays, which SQL joins by their position.
func along(spans []dialogue.Span) (segments, ends []int64) {
	segments, ends = make([]int64, len(spans)), make([]int64, len(spans))
	for i, s := range spans {
		segments[i], ends[i] = s.Segment, s.To
	}
	return segments, ends
}

// InsertRevision implements [dialogue.Rows].
func (r dialogueRows) InsertRevision(ctx context.Context, tenant string, segment int64, rev dialogue.RevisionRow) error {
	added, err := r.exec(ctx, `INSERT INTO revisions (tenant, segment, number, after_seq, state, created_at)
		VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
		tenant, segment, rev.Number, rev.AfterSeq, rev.State, rev.At.UnixMicro())
	if err == nil && added == 0 {
		err = dialogue.ErrConflict
	}
	return err
}

func scanRevision(row pgx.Row) (rev dialogue.RevisionRow, err error) {
	var at int64
	err = row.Scan(&rev.Number, &rev.AfterSeq, &rev.State, &at)
	rev.At = fromMicros(at)
	return rev, err
}

// RevisionAt implements [dialogue.Rows].
func (r dialogueRows) RevisionAt(ctx context.Context, tenant string, spans []dialogue.Span, seq int64) (rev dialogue.RevisionRow, err error) {
	segments, ends := along(spans)
	err = r.row(ctx, func(row pgx.Row) (err error) {
		rev, err = scanRevision(row)
		return err
	}, `SELECT newest.* FROM unnest($2::bigint[], $3::bigint[]) WITH ORDINALITY AS span (segment, to_seq, position),
		LATERAL (SELECT number, after_seq, state, created_at FROM revisions
			WHERE tenant = $1 AND segment = span.segment AND after_seq <= least(span.to_seq, $4)
			ORDER BY number DESC LIMIT 1) AS newest
		ORDER BY span.position DESC LIMIT 1`, tenant, segments, ends, seq)
	if errors.Is(err, pgx.ErrNoRows) {
		err = dialogue.ErrNotFound
	}
	return rev, err
}

// revisionPage is how many revisions are read at a time: the connection must be free for other
// statements of the transaction while the caller looks at them.
const revisionPage = 64

// Revisions implements [dialogue.Rows].
func (r dialogueRows) Revisions(ctx context.Context, tenant string, spans []dialogue.Span) iter.Seq2[dialogue.RevisionRow, error] {
	return func(yield func(dialogue.RevisionRow, error) bool) {
		for _, span := range spans {
			for after, more := int64(-1), true; more; {
				page, err := r.revisions(ctx, tenant, span, after)
				if err != nil {
					yield(dialogue.RevisionRow{}, err)
					return
				}
				for _, rev := range page {
					if !yield(rev, nil) {
						return
					}
					after = rev.Number
				}
				more = len(page) == revisionPage
			}
		}
	}
}

func (r dialogueRows) revisions(ctx context.Context, tenant string, span dialogue.Span, after int64) (page []dialogue.RevisionRow, err error) {
	err = r.query(ctx, func(rows pgx.Rows) error {
		for rows.Next() {
			rev, err := scanRevision(rows)
			if err != nil {
				return err
			}
			page = append(page, rev)
		}
		return nil
	}, `SELECT number, after_seq, state, created_at FROM revisions
		WHERE tenant = $1 AND segment = $2 AND number > $3 AND after_seq <= $4 ORDER BY number LIMIT $5`,
		tenant, span.Segment, after, span.To, revisionPage)
	return page, err
}

// InsertFlowTurns implements [dialogue.Rows].
func (r dialogueRows) InsertFlowTurns(ctx context.Context, tenant string, segment, seq int64, ptrs []dialogue.Pointer) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	for _, p := range ptrs {
		r.later("flow "+p.FlowID, `INSERT INTO flow_turns (tenant, segment, flow_id, turn_id, seq) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT DO NOTHING`, tenant, segment, p.FlowID, p.TurnID, seq)
	}
	return nil
}

// FlowTurns implements [dialogue.Rows].
func (r dialogueRows) FlowTurns(ctx context.Context, tenant string, spans []dialogue.Span, flowID string, upTo int64) (ids []string, err error) {
	segments, ends := along(spans)
	err = r.query(ctx, func(rows pgx.Rows) (err error) {
		ids, err = pgx.AppendRows(ids, rows, pgx.RowTo[string])
		return err
	}, `SELECT f.turn_id FROM unnest($2::bigint[], $3::bigint[]) AS span (segment, to_seq)
		JOIN flow_turns f ON f.tenant = $1 AND f.segment = span.segment AND f.flow_id = $4 AND f.seq <= least(span.to_seq, $5)
		GROUP BY f.turn_id ORDER BY min(f.seq), f.turn_id`, tenant, segments, ends, flowID, upTo)
	return ids, err
}

// Pointers implements [dialogue.Rows].
func (r dialogueRows) Pointers(ctx context.Context, tenant string, spans []dialogue.Span) iter.Seq2[dialogue.PointerRow, error] {
	segments, ends := along(spans)
	return func(yield func(dialogue.PointerRow, error) bool) {
		stopped := false
		err := r.query(ctx, func(rows pgx.Rows) error {
			for rows.Next() {
				var p dialogue.PointerRow
				if err := rows.Scan(&p.FlowID, &p.TurnID, &p.Seq); err != nil {
					return err
				}
				if stopped = !yield(p, nil); stopped {
					return nil
				}
			}
			return nil
		}, `SELECT f.flow_id, f.turn_id, min(f.seq) FROM unnest($2::bigint[], $3::bigint[]) AS span (segment, to_seq)
			JOIN flow_turns f ON f.tenant = $1 AND f.segment = span.segment AND f.seq <= span.to_seq
			GROUP BY f.flow_id, f.turn_id ORDER BY min(f.seq), f.flow_id, f.turn_id`, tenant, segments, ends)
		if err != nil && !stopped {
			yield(dialogue.PointerRow{}, err)
		}
	}
}
