package sqlite

import (
	"context"
	"time"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// lastPlaces is what a load makes of events.
const lastPlaces = `INSERT INTO event_places (tenant, last) SELECT tenant, max(place) FROM events WHERE place IS NOT NULL GROUP BY tenant`

// InsertEvent implements [event.EventRows].
func (r outboxRows) InsertEvent(ctx context.Context, e event.Event) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	return r.fail(r.c.Prepare(`INSERT INTO events (event_id, tenant, session_id, kind, turn_id, data, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`).
		Text(e.ID).Text(e.Tenant).Text(e.Session).Text(string(e.Kind)).TextOrNull(e.TurnID).Text(e.Data).Int(micros(e.At)).Run())
}

// Events implements [event.EventRows].
func (r outboxRows) Events(ctx context.Context, tenant, session string, after int64, limit int) ([]event.Event, error) {
	if err := r.reading(ctx); err != nil || limit <= 0 {
		return nil, err
	}
	placed, err := r.eventsWhere(tenant, session, ` AND place > ? ORDER BY place LIMIT ?`, after, int64(limit))
	if err != nil || len(placed) == limit {
		return placed, err
	}
	unplaced, err := r.eventsWhere(tenant, session, ` AND place IS NULL ORDER BY event_id LIMIT ?`, int64(limit-len(placed)))
	return append(placed, unplaced...), err
}

// eventsWhere reads events of a tenant, or of one session, with the rest of the statement.
func (r outboxRows) eventsWhere(tenant, session, rest string, numbers ...int64) ([]event.Event, error) {
	const columns = `SELECT event_id, tenant, session_id, kind, turn_id, data, created_at, place FROM events WHERE tenant = ?`
	var q *lite.Stmt
	if session == "" {
		q = r.c.Prepare(columns + rest).Text(tenant)
	} else {
		q = r.c.Prepare(columns + ` AND session_id = ?` + rest).Text(tenant).Text(session)
	}
	for _, n := range numbers {
		q.Int(n)
	}
	return all(r.tx, q, func(q *lite.Stmt) event.Event {
		return event.Event{
			ID: q.ReadText(), Tenant: q.ReadText(), Session: q.ReadText(), Kind: event.Kind(q.ReadText()), TurnID: q.ReadText(),
			Data: q.ReadText(), At: fromMicros(q.ReadInt()), Place: q.ReadInt(),
		}
	})
}

// PlaceEvents implements [event.EventRows]. There is one writer: places become visible in their order.
func (r outboxRows) PlaceEvents(ctx context.Context, tenant string) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	last, err := r.LastPlace(ctx, tenant)
	if err != nil {
		return err
	}
	err = r.c.Prepare(`UPDATE events SET place = ?1 + unplaced.n
		FROM (SELECT event_id, row_number() OVER (ORDER BY event_id) AS n FROM events WHERE tenant = ?2 AND place IS NULL) AS unplaced
		WHERE events.tenant = ?2 AND events.event_id = unplaced.event_id`).Int(last).Text(tenant).Run()
	if err != nil {
		return r.fail(err)
	}
	placed := r.c.Changes()
	if placed == 0 {
		return nil
	}
	return r.fail(r.c.Prepare(`INSERT OR REPLACE INTO event_places (tenant, last) VALUES (?, ?)`).Text(tenant).Int(last + placed).Run())
}

// SweepEvents implements [event.EventRows].
func (r outboxRows) SweepEvents(ctx context.Context, tenant string, before time.Time, limit int) (int64, error) {
	if err := r.writing(ctx); err != nil || limit <= 0 {
		return 0, err
	}
	// By the primary key: an index by time would be written to with every event.
	err := r.c.Prepare(`DELETE FROM events WHERE tenant = ?1 AND event_id IN
		(SELECT event_id FROM events WHERE tenant = ?1 AND event_id < ?2 AND created_at < ?3 AND kind <> ?4
		AND (place IS NULL OR place < (SELECT last FROM event_places WHERE tenant = ?1)) ORDER BY event_id LIMIT ?5)`).
		Text(tenant).Text(ids.Floor(before)).Int(micros(before)).Text(string(event.Forgotten)).Int(int64(limit)).Run()
	if err != nil {
		return 0, r.fail(err)
	}
	return r.c.Changes(), nil
}

// LastPlace implements [event.EventRows].
func (r outboxRows) LastPlace(ctx context.Context, tenant string) (int64, error) {
	if err := r.reading(ctx); err != nil {
		return 0, err
	}
	last, _, err := one(r.tx, r.c.Prepare(`SELECT last FROM event_places WHERE tenant = ?`).Text(tenant), readInt)
	return last, err
}
