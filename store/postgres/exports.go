package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/event"
)

// outboxRows is the transaction as the outbox sees it.
type outboxRows struct{ *tx }

const (
	exportColumns = exportHead + `e.body, ` + exportTail
	// bodilessColumns are the same without the body, which is empty then.
	bodilessColumns = exportHead + `'', ` + exportTail

	exportHead = `e.tenant, e.session_id, e.segment, e.export_id, e.turn_id, e.first_seq, e.last_seq, e.status, `
	exportTail = `e.created_at, coalesce(e.sent_number, 0)`
)

func scanExport(row pgx.Row) (e event.Export, err error) {
	err = row.Scan(&e.Tenant, &e.Session, &e.Segment, &e.ID, &e.TurnID, &e.First, &e.Last, &e.Status,
		&e.Body, (*stamp)(&e.At), &e.Sent)
	return e, err
}

// InsertExport implements [event.ExportRows].
func (r outboxRows) InsertExport(ctx context.Context, e event.Export) error {
	return r.insert(ctx, "export "+e.ID, event.ErrExists,
		`INSERT INTO exports (tenant, export_id, session_id, segment, turn_id, first_seq, last_seq, status, body, created_at, sent_number)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		e.Tenant, e.ID, e.Session, e.Segment, e.TurnID, e.First, e.Last, e.Status, e.Body, e.At.UnixMicro(), orNull(e.Sent))
}

// Export implements [event.ExportRows].
func (r outboxRows) Export(ctx context.Context, tenant, id string) (event.Export, error) {
	e, ok, err := one(ctx, r.tx, scanExport, `SELECT `+exportColumns+` FROM exports e WHERE e.tenant = $1 AND e.export_id = $2`, tenant, id)
	if err == nil && !ok {
		err = event.ErrNotFound
	}
	return e, err
}

// ExportsOf implements [event.ExportRows].
func (r outboxRows) ExportsOf(ctx context.Context, tenant, turnID string) ([]event.Export, error) {
	return list(ctx, r.tx, scanExport,
		`SELECT `+exportColumns+` FROM exports e WHERE e.tenant = $1 AND e.turn_id = $2 ORDER BY e.export_id`, tenant, turnID)
}

// SetExportStatus implements [event.ExportRows].
func (r outboxRows) SetExportStatus(ctx context.Context, tenant, id, status string) error {
	changed, err := r.exec(ctx, `UPDATE exports SET status = $3 WHERE tenant = $1 AND export_id = $2`, tenant, id, status)
	if err == nil && changed == 0 {
		err = event.ErrNotFound
	}
	return err
}

// Published implements [event.ExportRows]. Its cursor is safe because numbers are given under one
// lock that is held until they are visible; see number.
func (r outboxRows) Published(ctx context.Context, after int64, limit int) ([]event.Export, error) {
	return list(ctx, r.tx, scanExport,
		`SELECT `+exportColumns+` FROM exports e WHERE e.sent_number > $1 ORDER BY e.sent_number LIMIT $2`, after, max(limit, 0))
}

const publishedOf = `SELECT ` + exportColumns + ` FROM exports e WHERE e.tenant = $1 AND e.sent_number > $2 ORDER BY e.sent_number LIMIT $3`

// PublishedOf implements [event.ExportRows].
func (r outboxRows) PublishedOf(ctx context.Context, tenant string, after int64, limit int) ([]event.Export, error) {
	return list(ctx, r.tx, scanExport, publishedOf, tenant, after, max(limit, 0))
}

// LastPublished implements [event.ExportRows].
func (r outboxRows) LastPublished(ctx context.Context) (number int64, err error) {
	err = r.row(ctx, func(row pgx.Row) error { return row.Scan(&number) }, `SELECT coalesce(max(sent_number), 0) FROM exports`)
	return number, err
}

// sweptThrough looks at those that have a body, by the index of these. OFFSET 0 keeps the planner from walking along the
// numbers to the first of them, past all that were ever swept.
const sweptThrough = `SELECT coalesce(min(kept.sent_number) - 1, (SELECT max(sent_number) FROM exports), 0)
	FROM (SELECT sent_number FROM exports WHERE sent_number IS NOT NULL AND body <> '' OFFSET 0) AS kept`

// SweptThrough implements [event.ExportRows].
func (r outboxRows) SweptThrough(ctx context.Context) (number int64, err error) {
	err = r.row(ctx, func(row pgx.Row) error { return row.Scan(&number) }, sweptThrough)
	return number, err
}

var sweepExports = `UPDATE exports SET body = '' WHERE ` +
	chosen("exports", `sent_number IS NOT NULL AND body <> '' AND coalesce(sent_at, created_at) < $1`, "coalesce(sent_at, created_at)")

// SweepExports implements [event.ExportRows].
func (r outboxRows) SweepExports(ctx context.Context, before time.Time, limit int) (int64, error) {
	return r.exec(ctx, sweepExports, before.UnixMicro(), max(limit, 0))
}
