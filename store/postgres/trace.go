package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/trace"
)

// traceRows is the transaction as traces see it.
type traceRows struct{ *tx }

// InsertParts implements [trace.Rows].
func (r traceRows) InsertParts(ctx context.Context, tenant string, parts ...trace.Part) error {
	for _, p := range parts {
		err := r.write(ctx, "trace of turn "+p.TurnID,
			`INSERT INTO trace_parts (tenant, turn_id, part_id, segment, created_at, body) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT DO NOTHING`, tenant, p.TurnID, p.ID, p.Segment, p.At.UnixMicro(), p.Body)
		if err != nil {
			return err
		}
	}
	return nil
}

const partColumns = `turn_id, segment, part_id, created_at, body`

func scanPart(row pgx.Row) (p trace.Part, err error) {
	err = row.Scan(&p.TurnID, &p.Segment, &p.ID, (*stamp)(&p.At), &p.Body)
	return p, err
}

// Parts implements [trace.Rows].
func (r traceRows) Parts(ctx context.Context, tenant, turnID string) ([]trace.Part, error) {
	return list(ctx, r.tx, scanPart,
		`SELECT `+partColumns+` FROM trace_parts WHERE tenant = $1 AND turn_id = $2 ORDER BY segment, part_id`, tenant, turnID)
}

// PartsOf implements [trace.Rows].
func (r traceRows) PartsOf(ctx context.Context, tenant string, segment int64) ([]trace.Part, error) {
	return list(ctx, r.tx, scanPart,
		`SELECT `+partColumns+` FROM trace_parts WHERE tenant = $1 AND segment = $2 ORDER BY turn_id, part_id`, tenant, segment)
}

// SweepParts implements [trace.Rows].
func (r traceRows) SweepParts(ctx context.Context, before time.Time, limit int) (int64, error) {
	return r.sweep(ctx, limit, "trace_parts", `created_at < $1`, "created_at", before)
}
