package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/ids"
)

// loadPlaces is what a load makes of events.
const loadPlaces = `INSERT INTO event_places (tenant, last) SELECT tenant, max(place) FROM events WHERE place IS NOT NULL GROUP BY tenant`

// InsertEvent implements [event.EventRows].
func (r outboxRows) InsertEvent(ctx context.Context, e event.Event) error {
	return r.write(ctx, "event "+e.ID,
		`INSERT INTO events (tenant, event_id, session_id, kind, turn_id, data, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT DO NOTHING`, e.Tenant, e.ID, e.Session, string(e.Kind), orNull(e.TurnID), e.Data, e.At.UnixMicro())
}

func scanEvent(row pgx.Row) (e event.Event, err error) {
	var place *int64
	err = row.Scan(&e.Tenant, &e.ID, &e.Session, &e.Kind, (*optional)(&e.TurnID), &e.Data, (*stamp)(&e.At), &place)
	e.Place = orElse(place, 0)
	return e, err
}

const eventColumns = `SELECT tenant, event_id, session_id, kind, turn_id, data, created_at, place FROM events WHERE tenant = $1`

// Events implements [event.EventRows].
func (r outboxRows) Events(ctx context.Context, tenant, session string, after int64, limit int) ([]event.Event, error) {
	from, args := eventColumns, []any{tenant, after, max(limit, 0)}
	if session != "" {
		from, args = from+` AND session_id = $4`, append(args, session)
	}
	return list(ctx, r.tx, scanEvent, `(`+from+` AND place > $2 ORDER BY place LIMIT $3) UNION ALL
		(`+from+` AND place IS NULL ORDER BY event_id LIMIT $3) ORDER BY place NULLS LAST, event_id LIMIT $3`, args...)
}

// PlaceEvents implements [event.EventRows]. Events become visible in any order here, so they cannot have their places
// when they are written. Whoever gives places has locked the tenant's last one until the end of the transaction, so
// that the next one waits and goes on behind them. The events are read by a statement after the lock was taken: only
// that sees what the last holder placed. One that is deleted meanwhile leaves a gap, so that the last place is read and
// not counted.
func (r outboxRows) PlaceEvents(ctx context.Context, tenant string) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	r.later("place of events", `INSERT INTO event_places (tenant, last) VALUES ($1, 0) ON CONFLICT DO NOTHING`, tenant)
	r.later("place of events", `SELECT FROM event_places WHERE tenant = $1 FOR UPDATE`, tenant)
	placed, err := r.exec(ctx, `UPDATE events SET place = counter.last + unplaced.n
		FROM (SELECT event_id, row_number() OVER (ORDER BY event_id) AS n FROM events WHERE tenant = $1 AND place IS NULL) AS unplaced,
			(SELECT last FROM event_places WHERE tenant = $1) AS counter
		WHERE events.tenant = $1 AND events.event_id = unplaced.event_id`, tenant)
	if err != nil || placed == 0 {
		return err
	}
	return r.write(ctx, "place of events", `UPDATE event_places
		SET last = (SELECT max(place) FROM events WHERE tenant = $1) WHERE tenant = $1`, tenant)
}

// SweepEvents implements [event.EventRows]. They are found by the primary key: an index by time would be written to with
// every event.
func (r outboxRows) SweepEvents(ctx context.Context, tenant string, before time.Time, limit int) (int64, error) {
	return r.exec(ctx, `DELETE FROM events WHERE `+chosen("events", `tenant = $3 AND event_id < $4 AND created_at < $1 AND kind <> $5
		AND (place IS NULL OR place < (SELECT last FROM event_places WHERE tenant = $3))`, "event_id"),
		before.UnixMicro(), max(limit, 0), tenant, ids.Floor(before), string(event.Forgotten))
}

// LastPlace implements [event.EventRows].
func (r outboxRows) LastPlace(ctx context.Context, tenant string) (last int64, err error) {
	err = r.row(ctx, func(row pgx.Row) error { return row.Scan(&last) }, `SELECT last FROM event_places WHERE tenant = $1`, tenant)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	return last, err
}
