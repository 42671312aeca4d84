package sqlite

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// PutObservation implements [scratch.Rows].
func (r scratchRows) PutObservation(ctx context.Context, tenant string, segment int64, o scratch.Row) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	// Mostly one is written again whose type and status stay and that expires no earlier: no index is
	// written to then.
	err := r.c.Prepare(`UPDATE observations SET changed_at = ?1, expires_at = ?2, doc = ?3
		WHERE tenant = ?4 AND segment = ?5 AND observation_id = ?6 AND type = ?7 AND status = ?8 AND sweep_at <= ?2`).
		Int(micros(o.At)).Int(micros(o.Expires)).Text(o.Doc).
		Text(tenant).Int(segment).Text(o.ID).Text(o.Type).Text(string(o.Status)).Run()
	if err != nil || r.c.Changes() > 0 {
		return r.fail(err)
	}
	return r.fail(r.c.Prepare(`INSERT INTO observations (tenant, segment, observation_id, type, status, changed_at, expires_at, sweep_at, doc)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8) ON CONFLICT DO UPDATE SET type = excluded.type, status = excluded.status,
			changed_at = excluded.changed_at, expires_at = excluded.expires_at, sweep_at = excluded.sweep_at, doc = excluded.doc`).
		Text(tenant).Int(segment).Text(o.ID).Text(o.Type).Text(string(o.Status)).Int(micros(o.At)).Int(micros(o.Expires)).
		Text(o.Doc).Run())
}

const observationColumns = `observation_id, type, status, changed_at, expires_at, doc`

func readObservation(q *lite.Stmt) scratch.Row {
	return scratch.Row{
		ID: q.ReadText(), Type: q.ReadText(), Status: scratch.Status(word(q.ReadRaw())),
		At: fromMicros(q.ReadInt()), Expires: fromMicros(q.ReadInt()), Doc: q.ReadText(),
	}
}

// Observation implements [scratch.Rows].
func (r scratchRows) Observation(ctx context.Context, tenant string, segment int64, id string) (scratch.Row, bool, error) {
	if err := r.reading(ctx); err != nil {
		return scratch.Row{}, false, err
	}
	return one(r.tx, r.c.Prepare(`SELECT `+observationColumns+` FROM observations
		WHERE tenant = ? AND segment = ? AND observation_id = ?`).Text(tenant).Int(segment).Text(id), readObservation)
}

// Observations implements [scratch.Rows].
func (r scratchRows) Observations(ctx context.Context, tenant string, segment int64, now time.Time, live bool) ([]scratch.Row, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	sql := `SELECT ` + observationColumns + ` FROM observations WHERE tenant = ?1 AND segment = ?2
		AND (expires_at > ?3 OR status <> 'archived' AND expires_at > ?4)`
	if live {
		// In these words SQLite knows that the index of those that live is enough.
		sql = `SELECT ` + observationColumns + ` FROM observations INDEXED BY observations_live
			WHERE tenant = ?1 AND segment = ?2 AND expires_at > ?3 AND status <> 'archived'`
	}
	q := r.c.Prepare(sql).Text(tenant).Int(segment).Int(micros(now))
	if !live {
		q = q.Int(micros(now.Add(-scratch.ArchivedRetention)))
	}
	found, err := all(r.tx, q, readObservation)
	slices.SortFunc(found, func(a, b scratch.Row) int { return cmp.Compare(a.ID, b.ID) })
	return found, err
}

// ExpiredObservations implements [scratch.Rows].
func (r scratchRows) ExpiredObservations(ctx context.Context, now time.Time, limit int) ([]scratch.Placed, error) {
	if err := r.putSweepRight(ctx, now, limit); err != nil {
		return nil, err
	}
	return all(r.tx, r.c.Prepare(`SELECT tenant, segment, `+observationColumns+` FROM observations
		WHERE sweep_at <= ?1 AND expires_at <= ?1 AND status <> 'archived' ORDER BY sweep_at LIMIT ?2`).
		Int(micros(now)).Int(int64(max(limit, 0))), func(q *lite.Stmt) scratch.Placed {
		return scratch.Placed{Tenant: q.ReadText(), Segment: q.ReadInt(), Row: readObservation(q)}
	})
}

// SweepObservations implements [scratch.Rows].
func (r scratchRows) SweepObservations(ctx context.Context, now time.Time, limit int) (int64, error) {
	if err := r.putSweepRight(ctx, now, limit); err != nil {
		return 0, err
	}
	return r.sweep(`DELETE FROM observations WHERE id IN
		(SELECT id FROM observations WHERE sweep_at <= ?1 AND expires_at <= ?1 AND status = 'archived' ORDER BY sweep_at LIMIT ?2)`, now, limit)
}

// putSweepRight takes what expires later out of the way of a sweep.
func (r scratchRows) putSweepRight(ctx context.Context, now time.Time, limit int) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	_, err := r.sweep(`UPDATE observations SET sweep_at = expires_at WHERE id IN
		(SELECT id FROM observations WHERE sweep_at <= ?1 AND expires_at > ?1 ORDER BY sweep_at LIMIT ?2)`, now, limit)
	return err
}

// sweep runs a statement that binds a time and a limit and returns how many rows it changed.
func (t *tx) sweep(sql string, at time.Time, limit int) (int64, error) {
	if limit <= 0 {
		return 0, nil
	}
	if err := t.c.Prepare(sql).Int(micros(at)).Int(int64(limit)).Run(); err != nil {
		return 0, t.fail(err)
	}
	return t.c.Changes(), nil
}
