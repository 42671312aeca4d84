package sqlite

import (
	"context"
	"time"

	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
	"github.com/turnstone-dev/turnstone/turn"
)

// PutExchange implements [turn.ExchangeRows].
func (r logRows) PutExchange(ctx context.Context, key turn.Key, e turn.OpenExchange) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	return r.fail(r.c.Prepare(`INSERT OR REPLACE INTO drafts (tenant, session_id, export_id, turn_id, reply_id, model, started_at, changed_at, content)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`).
		Text(key.Tenant).Text(key.Session).Text(e.ExportID).Text(e.Opened).Text(e.Reply).Text(e.Model).
		Int(micros(e.Started)).Int(micros(e.Changed)).Text(e.Content).Run())
}

// Exchange implements [turn.ExchangeRows].
func (r logRows) Exchange(ctx context.Context, key turn.Key) (turn.OpenExchange, bool, error) {
	if err := r.reading(ctx); err != nil {
		return turn.OpenExchange{}, false, err
	}
	return one(r.tx, r.c.Prepare(`SELECT export_id, turn_id, reply_id, model, started_at, changed_at, content FROM drafts
		WHERE tenant = ? AND session_id = ?`).Text(key.Tenant).Text(key.Session), func(q *lite.Stmt) turn.OpenExchange {
		return turn.OpenExchange{
			ExportID: q.ReadText(), Opened: q.ReadText(), Reply: q.ReadText(), Model: q.ReadText(),
			Started: fromMicros(q.ReadInt()), Changed: fromMicros(q.ReadInt()), Content: q.ReadText(),
		}
	})
}

// DeleteExchange implements [turn.ExchangeRows].
func (r logRows) DeleteExchange(ctx context.Context, key turn.Key) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	return r.fail(r.c.Prepare(`DELETE FROM drafts WHERE tenant = ? AND session_id = ?`).Text(key.Tenant).Text(key.Session).Run())
}

// LeftExchanges implements [turn.ExchangeRows].
func (r logRows) LeftExchanges(ctx context.Context, after turn.Key, now time.Time, limit int) ([]turn.Key, error) {
	if err := r.reading(ctx); err != nil || limit <= 0 {
		return nil, err
	}
	return all(r.tx, r.c.Prepare(`SELECT tenant, session_id FROM drafts AS d WHERE (tenant, session_id) > (?1, ?2) AND NOT EXISTS
		(SELECT 1 FROM leases AS l WHERE l.tenant = d.tenant AND l.session_id = d.session_id AND l.until > ?3)
		ORDER BY tenant, session_id LIMIT ?4`).Text(after.Tenant).Text(after.Session).Int(micros(now)).Int(int64(limit)),
		func(q *lite.Stmt) turn.Key { return turn.Key{Tenant: q.ReadText(), Session: q.ReadText()} })
}
