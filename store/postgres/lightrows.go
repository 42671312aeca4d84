package postgres

import (
	"context"
	"fmt"

	"github.com/turnstone-dev/turnstone/dialogue"
)

// lightRows is the transaction as the follow-up context sees it.
type lightRows struct{ *tx }

// StoreLight implements [dialogue.LightRows].
func (r lightRows) StoreLight(ctx context.Context, key dialogue.LightKey, c dialogue.LightContext) error {
	l := light{r.store}
	return r.keep(ctx, l, key, storeLightSQL, l.values(key, c))
}

// hearLightSQL is storeLightSQL for one field. What has expired is as if it were not there.
const hearLightSQL = `INSERT INTO light_contexts AS kept (tenant, session_id, pending_fields, last_user_message, expires_at)
	VALUES ($3, $4, '{}', $5, ` + lightNow + ` + $2)
	ON CONFLICT (tenant, session_id) DO UPDATE SET
		last_intent = CASE WHEN kept.expires_at > ` + lightNow + ` THEN kept.last_intent END,
		last_task_id = CASE WHEN kept.expires_at > ` + lightNow + ` THEN kept.last_task_id END,
		pending_fields = CASE WHEN kept.expires_at > ` + lightNow + ` THEN kept.pending_fields ELSE excluded.pending_fields END,
		last_user_message = excluded.last_user_message, expires_at = excluded.expires_at`

// HearLight implements [dialogue.LightRows].
func (r lightRows) HearLight(ctx context.Context, key dialogue.LightKey, message string) error {
	l := light{r.store}
	return r.keep(ctx, l, key, hearLightSQL, []any{
		l.now(), l.store.config.LightTimeout.Microseconds(), key.Tenant, key.Session, []byte(message),
	})
}

// keep queues the statement: it costs no round trip of its own, and where it comes to nothing the error of the
// transaction is a [dialogue.ErrNotKept].
func (r lightRows) keep(ctx context.Context, l light, key dialogue.LightKey, sql string, values []any) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	if err := checkKey(key); err != nil {
		return err
	}
	if size(values) <= maxQueued {
		r.queue = append(r.queue, statement{sql: sql, args: values, what: "follow-up context", as: dialogue.ErrNotKept})
	} else if _, err := r.exec(ctx, sql, values...); err != nil {
		return fmt.Errorf("%w: %w", dialogue.ErrNotKept, err)
	}
	if l.sweeps() { // last: two that wait for a row of each other's would wait for ever
		r.queue = append(r.queue, statement{
			sql: sweepLightSQL, args: []any{l.now(), sweepRows}, what: "expired follow-up contexts", as: dialogue.ErrNotKept,
		})
	}
	return nil
}
