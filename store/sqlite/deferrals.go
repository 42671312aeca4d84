package sqlite

import (
	"context"
	"time"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// PutDeferral implements [event.DeferralRows].
func (r outboxRows) PutDeferral(ctx context.Context, d event.Deferral) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	q := r.c.Prepare(`INSERT OR REPLACE INTO deferrals (` + deferralColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`).
		Text(d.Tenant).Text(d.Session).Text(d.ExportID).Text(d.Target).Text(d.Payload).Int(int64(d.Tries)).
		Int(micros(d.Next)).Text(d.Error).Int(micros(d.At))
	return r.fail(bindTime(q, d.Escalated).Run())
}

const deferralColumns = `tenant, session_id, export_id, target, payload, tries, next_at, error, created_at, escalated_at`

func readDeferral(q *lite.Stmt) event.Deferral {
	return event.Deferral{
		Tenant: q.ReadText(), Session: q.ReadText(), ExportID: q.ReadText(), Target: q.ReadText(), Payload: q.ReadText(),
		Tries: int(q.ReadInt()), Next: fromMicros(q.ReadInt()), Error: q.ReadText(), At: fromMicros(q.ReadInt()), Escalated: readTime(q),
	}
}

// Deferral implements [event.DeferralRows].
func (r outboxRows) Deferral(ctx context.Context, tenant, exportID, target string) (event.Deferral, bool, error) {
	if err := r.reading(ctx); err != nil {
		return event.Deferral{}, false, err
	}
	return one(r.tx, r.c.Prepare(`SELECT `+deferralColumns+` FROM deferrals WHERE tenant = ? AND export_id = ? AND target = ?`).
		Text(tenant).Text(exportID).Text(target), readDeferral)
}

// Deferrals implements [event.DeferralRows].
func (r outboxRows) Deferrals(ctx context.Context, tenant string) ([]event.Deferral, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	return all(r.tx, r.c.Prepare(`SELECT `+deferralColumns+` FROM deferrals WHERE tenant = ?
		ORDER BY created_at, export_id, target`).Text(tenant), readDeferral)
}

// waitingOf are the deferrals of a session that are not given up.
const waitingOf = ` FROM deferrals INDEXED BY deferrals_of_session WHERE escalated_at IS NULL AND tenant = ? AND session_id = ?`

// WaitingDeferrals implements [event.DeferralRows].
func (r outboxRows) WaitingDeferrals(ctx context.Context, tenant, session string) ([]event.Deferral, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	return all(r.tx, r.c.Prepare(`SELECT `+deferralColumns+waitingOf+` ORDER BY created_at, export_id, target`).
		Text(tenant).Text(session), readDeferral)
}

// WaitingTargets implements [event.DeferralRows].
func (r outboxRows) WaitingTargets(ctx context.Context, tenant, session string) ([]string, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	return all(r.tx, r.c.Prepare(`SELECT DISTINCT target`+waitingOf+` ORDER BY target`).Text(tenant).Text(session),
		func(q *lite.Stmt) string { return q.ReadText() })
}

// CountDeferrals implements [event.DeferralRows].
func (r outboxRows) CountDeferrals(ctx context.Context) (int64, error) {
	if err := r.reading(ctx); err != nil {
		return 0, err
	}
	n, _, err := one(r.tx, r.c.Prepare(`SELECT count(*) FROM deferrals`), readInt)
	return n, err
}

// DueDeferrals implements [event.DeferralRows].
func (r outboxRows) DueDeferrals(ctx context.Context, now time.Time, limit int) ([]event.Deferral, error) {
	if err := r.reading(ctx); err != nil || limit <= 0 {
		return nil, err
	}
	return all(r.tx, r.c.Prepare(`SELECT `+deferralColumns+` FROM deferrals WHERE next_at <= ? AND escalated_at IS NULL
		ORDER BY next_at, tenant, export_id, target LIMIT ?`).Int(micros(now)).Int(int64(limit)), readDeferral)
}

// DeleteDeferral implements [event.DeferralRows].
func (r outboxRows) DeleteDeferral(ctx context.Context, tenant, exportID, target string) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	return r.fail(r.c.Prepare(`DELETE FROM deferrals WHERE tenant = ? AND export_id = ? AND target = ?`).
		Text(tenant).Text(exportID).Text(target).Run())
}

// SweepDeferrals implements [event.DeferralRows].
func (r outboxRows) SweepDeferrals(ctx context.Context, before time.Time, limit int) (int64, error) {
	if err := r.writing(ctx); err != nil {
		return 0, err
	}
	return r.sweep(`DELETE FROM deferrals WHERE (tenant, export_id, target) IN
		(SELECT tenant, export_id, target FROM deferrals WHERE escalated_at < ? ORDER BY escalated_at LIMIT ?)`, before, limit)
}
