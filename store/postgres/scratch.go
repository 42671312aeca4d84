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
	sql, args := `SELECT `+observationColumns+` FROM observations WHERE tenant = $1 AND segment = $2 AND `, []any{tenant, segment, now.UnixMicro()}
	if live {
		sql += `expires_at > $3 AND status <> 'archived'`
	} else {
		sql += `(expires_at > $3 OR status <> 'archived' AND expires_at > $4)`
		args = append(args, now.Add(-scratch.ArchivedRetention).UnixMicro())
	}
	return list(ctx, r.tx, scanObservation, sql+` ORDER BY observation_id`, args...)
}

// ExpiredObservations implements [scratch.Rows].
func (r scratchRows) ExpiredObservations(ctx context.Context, now time.Time, limit int) ([]scratch.Placed, error) {
	if err := r.writing(ctx); err != nil {
		return nil, err
	}
	return list(ctx, r.tx, func(row pgx.Row) (p scratch.Placed, err error) {
		err = row.Scan(&p.Tenant, &p.Segment, &p.ID, &p.Type, &p.Status, &p.Doc, (*stamp)(&p.At), (*stamp)(&p.Expires))
		return p, err
	}, `SELECT tenant, segment, `+observationColumns+` FROM observations WHERE expires_at <= $1 AND status <> 'archived'
		ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED`, now.UnixMicro(), max(limit, 0))
}

// SweepObservations implements [scratch.Rows].
func (r scratchRows) SweepObservations(ctx context.Context, now time.Time, limit int) (int64, error) {
	return r.sweep(ctx, limit, "observations", `expires_at <= $1 AND status = 'archived'`, "expires_at", now)
}
