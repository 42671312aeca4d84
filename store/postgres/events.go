package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/event"
)

// InsertEvent implements [event.EventRows].
func (r outboxRows) InsertEvent(ctx context.Context, e event.Event) error {
	return r.write(ctx, "event "+e.ID,
		`INSERT INTO events (tenant, event_id, session_id, kind, turn_id, data, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT DO NOTHING`, e.Tenant, e.ID, e.Session, string(e.Kind), orNull(e.TurnID), e.Data, e.At.UnixMicro())
}

func scanEvent(row pgx.Row) (e event.Event, err error) {
	err = row.Scan(&e.Tenant, &e.ID, &e.Session, &e.Kind, (*optional)(&e.TurnID), &e.Data, (*stamp)(&e.At))
	return e, err
}

// Events implements [event.EventRows]. Ids become visible in any order when several processes write: an
// event may appear behind one that a reader has seen.
func (r outboxRows) Events(ctx context.Context, tenant, session, after string, limit int) ([]event.Event, error) {
	const events = `SELECT tenant, event_id, session_id, kind, turn_id, data, created_at FROM events WHERE tenant = $1 AND event_id > $2`
	if session == "" {
		return list(ctx, r.tx, scanEvent, events+` ORDER BY event_id LIMIT $3`, tenant, after, limit)
	}
	return list(ctx, r.tx, scanEvent, events+` AND session_id = $4 ORDER BY event_id LIMIT $3`, tenant, after, limit, session)
}
