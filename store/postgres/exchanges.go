package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/turn"
)

// PutExchange implements [turn.ExchangeRows].
func (r logRows) PutExchange(ctx context.Context, key turn.Key, e turn.OpenExchange) error {
	return r.write(ctx, "exchange of "+key.Session,
		`INSERT INTO drafts (tenant, session_id, export_id, turn_id, reply_id, content, model, started_at, changed_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (tenant, session_id) DO UPDATE SET export_id = excluded.export_id, turn_id = excluded.turn_id,
			reply_id = excluded.reply_id, content = excluded.content, model = excluded.model,
			started_at = excluded.started_at, changed_at = excluded.changed_at`,
		key.Tenant, key.Session, e.ExportID, e.Opened, e.Reply, e.Content, e.Model, e.Started.UnixMicro(), e.Changed.UnixMicro())
}

// Exchange implements [turn.ExchangeRows].
func (r logRows) Exchange(ctx context.Context, key turn.Key) (turn.OpenExchange, bool, error) {
	return one(ctx, r.tx, func(row pgx.Row) (e turn.OpenExchange, err error) {
		err = row.Scan(&e.ExportID, &e.Opened, &e.Reply, &e.Content, &e.Model, (*stamp)(&e.Started), (*stamp)(&e.Changed))
		return e, err
	}, `SELECT export_id, turn_id, reply_id, content, model, started_at, changed_at FROM drafts
		WHERE tenant = $1 AND session_id = $2`, key.Tenant, key.Session)
}

// DeleteExchange implements [turn.ExchangeRows].
func (r logRows) DeleteExchange(ctx context.Context, key turn.Key) error {
	return r.write(ctx, "exchange of "+key.Session, `DELETE FROM drafts WHERE tenant = $1 AND session_id = $2`, key.Tenant, key.Session)
}

// LeftExchanges implements [turn.ExchangeRows].
func (r logRows) LeftExchanges(ctx context.Context, after turn.Key, now time.Time, limit int) ([]turn.Key, error) {
	return list(ctx, r.tx, func(row pgx.Row) (key turn.Key, err error) {
		err = row.Scan(&key.Tenant, &key.Session)
		return key, err
	}, `SELECT tenant, session_id FROM drafts AS d WHERE (tenant, session_id) > ($1, $2) AND NOT EXISTS
			(SELECT 1 FROM leases AS l WHERE l.tenant = d.tenant AND l.session_id = d.session_id AND l.until > $3)
		ORDER BY tenant, session_id LIMIT $4`, after.Tenant, after.Session, now.UnixMicro(), max(limit, 0))
}
