package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/turn"
)

// InsertOpenCall implements [turn.TurnRows].
func (r logRows) InsertOpenCall(ctx context.Context, tenant string, segment int64, c turn.OpenCall) error {
	added, err := r.exec(ctx, `INSERT INTO open_calls (tenant, segment, call_id, name, unit_seq, position)
		SELECT $1, $2, $3, $4, $5, coalesce(max(position) + 1, 0) FROM open_calls WHERE tenant = $1 AND segment = $2
		ON CONFLICT DO NOTHING`, tenant, segment, c.ID, c.Name, c.Unit)
	if err == nil && added == 0 {
		err = turn.ErrConflict
	}
	return err
}

// OpenCalls implements [turn.TurnRows].
func (r logRows) OpenCalls(ctx context.Context, tenant string, segment int64) (list []turn.OpenCall, err error) {
	err = r.query(ctx, func(rows pgx.Rows) error {
		for rows.Next() {
			var c turn.OpenCall
			if err := rows.Scan(&c.ID, &c.Name, &c.Unit); err != nil {
				return err
			}
			list = append(list, c)
		}
		return nil
	}, `SELECT call_id, name, unit_seq FROM open_calls WHERE tenant = $1 AND segment = $2 ORDER BY position`, tenant, segment)
	return list, err
}

// DeleteOpenCall implements [turn.TurnRows].
func (r logRows) DeleteOpenCall(ctx context.Context, tenant string, segment int64, id string) (c turn.OpenCall, err error) {
	if err := r.writing(ctx); err != nil {
		return c, err
	}
	err = r.row(ctx, func(row pgx.Row) error { return row.Scan(&c.ID, &c.Name, &c.Unit) },
		`DELETE FROM open_calls WHERE tenant = $1 AND segment = $2 AND call_id = $3 RETURNING call_id, name, unit_seq`,
		tenant, segment, id)
	return c, noRows(err)
}

// InsertCompletedFlow implements [turn.TurnRows].
func (r logRows) InsertCompletedFlow(ctx context.Context, tenant string, segment int64, flow string, afterSeq int64) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	r.later("completed flow "+flow, `INSERT INTO completed_flows (tenant, segment, flow_id, after_seq, position)
		SELECT $1, $2, $3, $4, coalesce(max(position) + 1, 0) FROM completed_flows WHERE tenant = $1 AND segment = $2
		ON CONFLICT DO NOTHING`, tenant, segment, flow, afterSeq)
	return nil
}

// CompletedFlows implements [turn.TurnRows].
func (r logRows) CompletedFlows(ctx context.Context, tenant string, s turn.Span) (list []turn.CompletedFlow, err error) {
	err = r.query(ctx, func(rows pgx.Rows) error {
		for rows.Next() {
			var f turn.CompletedFlow
			if err := rows.Scan(&f.ID, &f.AfterSeq); err != nil {
				return err
			}
			list = append(list, f)
		}
		return nil
	}, `SELECT flow_id, after_seq FROM completed_flows WHERE tenant = $1 AND segment = $2 AND after_seq <= $3 ORDER BY position`,
		tenant, s.Segment, s.To)
	return list, err
}
