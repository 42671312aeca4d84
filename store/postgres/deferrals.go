package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/event"
)

const deferralColumns = `tenant, session_id, export_id, target, payload, tries, next_at, error, created_at, escalated_at`

func scanDeferral(row pgx.Row) (d event.Deferral, err error) {
	err = row.Scan(&d.Tenant, &d.Session, &d.ExportID, &d.Target, &d.Payload, &d.Tries, (*stamp)(&d.Next), &d.Error,
		(*stamp)(&d.At), (*stamp)(&d.Escalated))
	return d, err
}

// PutDeferral implements [event.DeferralRows].
func (r outboxRows) PutDeferral(ctx context.Context, d event.Deferral) error {
	return r.write(ctx, "deferral of "+d.Target+" of export "+d.ExportID,
		`INSERT INTO deferrals (`+deferralColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT (tenant, export_id, target) DO UPDATE SET session_id = excluded.session_id, payload = excluded.payload,
			tries = excluded.tries, next_at = excluded.next_at, error = excluded.error, created_at = excluded.created_at,
			escalated_at = excluded.escalated_at`,
		d.Tenant, d.Session, d.ExportID, d.Target, d.Payload, int64(d.Tries), d.Next.UnixMicro(), d.Error,
		d.At.UnixMicro(), orNever(d.Escalated))
}

// Deferral implements [event.DeferralRows].
func (r outboxRows) Deferral(ctx context.Context, tenant, exportID, target string) (event.Deferral, bool, error) {
	return one(ctx, r.tx, scanDeferral,
		`SELECT `+deferralColumns+` FROM deferrals WHERE tenant = $1 AND export_id = $2 AND target = $3`, tenant, exportID, target)
}

// Deferrals implements [event.DeferralRows].
func (r outboxRows) Deferrals(ctx context.Context, tenant string) ([]event.Deferral, error) {
	return list(ctx, r.tx, scanDeferral,
		`SELECT `+deferralColumns+` FROM deferrals WHERE tenant = $1 ORDER BY created_at, export_id, target`, tenant)
}

// waitingOf are the deferrals of a session that are not given up.
const waitingOf = ` FROM deferrals WHERE escalated_at IS NULL AND tenant = $1 AND session_id = $2`

// WaitingDeferrals implements [event.DeferralRows].
func (r outboxRows) WaitingDeferrals(ctx context.Context, tenant, session string) ([]event.Deferral, error) {
	return list(ctx, r.tx, scanDeferral,
		`SELECT `+deferralColumns+waitingOf+` ORDER BY created_at, export_id, target`, tenant, session)
}

// WaitingTargets implements [event.DeferralRows].
func (r outboxRows) WaitingTargets(ctx context.Context, tenant, session string) ([]string, error) {
	return list(ctx, r.tx, func(row pgx.Row) (target string, err error) { return target, row.Scan(&target) },
		`SELECT DISTINCT target`+waitingOf+` ORDER BY target`, tenant, session)
}

// CountDeferrals implements [event.DeferralRows].
func (r outboxRows) CountDeferrals(ctx context.Context) (n int64, err error) {
	err = r.row(ctx, func(row pgx.Row) error { return row.Scan(&n) }, `SELECT count(*) FROM deferrals`)
	return n, err
}

// DueDeferrals implements [event.DeferralRows].
func (r outboxRows) DueDeferrals(ctx context.Context, now time.Time, limit int) ([]event.Deferral, error) {
	return list(ctx, r.tx, scanDeferral,
		`SELECT `+deferralColumns+` FROM deferrals WHERE escalated_at IS NULL AND next_at <= $1
		ORDER BY next_at, tenant, export_id, target LIMIT $2`, now.UnixMicro(), max(limit, 0))
}

// DeleteDeferral implements [event.DeferralRows].
func (r outboxRows) DeleteDeferral(ctx context.Context, tenant, exportID, target string) error {
	return r.write(ctx, "deferral of "+target+" of export "+exportID,
		`DELETE FROM deferrals WHERE tenant = $1 AND export_id = $2 AND target = $3`, tenant, exportID, target)
}

// SweepDeferrals implements [event.DeferralRows].
func (r outboxRows) SweepDeferrals(ctx context.Context, before time.Time, limit int) (int64, error) {
	return r.sweep(ctx, limit, "deferrals", `escalated_at < $1`, "escalated_at", before)
}
