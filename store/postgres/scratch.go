package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/scratch"
)

// scratchRows is the transaction as scratch pages see it.
type scratchRows struct{ *tx }

// PutObservation implements [scratch.Rows].
func (r scratchRows) PutObservation(ctx context.Context, tenant string, segment int64, row scratch.Row) error {
	return r.write(ctx, "observation "+row.ID,
		`INSERT INTO observations (tenant, segment, observation_id, type, status, doc, changed_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (tenant, segment, observation_id) DO UPDATE SET type = excluded.type, status = excluded.status,
			doc = excluded.doc, changed_at = excluded.changed_at, expires_at = excluded.expires_at`,
		tenant, segment, row.ID, row.Type, string(row.Status), row.Doc, row.At.UnixMicro(), row.Expires.UnixMicro())
}

const observationColumns = `observation_id, type, status, doc, changed_at, expires_at`

func scanObservation(row pgx.Row) (r scratch.Row, err error) {
	err = row.Scan(&r.ID, &r.Type, &r.Status, &r.Doc, (*stamp)(&r.At), (*stamp)(&r.Expires))
	return r, err
}

// Observation implements [scratch.Rows].
func (r scratchRows) Observation(ctx context.Context, tenant string, segment int64, id string) (scratch.Row, bool, error) {
	return one(ctx, r.tx, scanObservation,
		`SELECT `+observationColumns+` FROM observations WHERE tenant = $1 AND segment = $2 AND observation_id = $3`,
		tenant, segment, id)
}

// Observations implements [scratch.Rows].
func (r scratchRows) Observations(ctx context.Context, tenant string, segment int64, now time.Time, live bool) ([]scratch.Row, error) {
	sql := `SELECT ` + observationColumns + ` FROM observations WHERE tenant = $1 AND segment = $2 AND expires_at > $3`
	if live {
		sql += ` AND status <> 'archived'`
	}
	return list(ctx, r.tx, scanObservation, sql+` ORDER BY observation_id`, tenant, segment, now.UnixMicro())
}

// SweepObservations implements [scratch.Rows].
func (r scratchRows) SweepObservations(ctx context.Context, now time.Time, limit int) (int64, error) {
	return r.sweep(ctx, limit, "observations", `expires_at <= $1`, "expires_at", now)
}
