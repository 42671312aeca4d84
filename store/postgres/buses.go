package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

const (
	// busTenant is the tenant of the row, which belongs to none.
	busTenant = ""
	// busName is the bus that publishes the exports.
	busName = `coalesce((SELECT name FROM buses WHERE tenant = ''), '')`
	// lockPublication keeps others from noting what they sent, and from changing the bus, until the transaction ends.
	lockPublication = `SELECT pg_advisory_xact_lock(hashtext('turnstone publication'), hashtext(coalesce(current_schema(), '')))`
)

// Bus implements [event.BusRows].
func (r outboxRows) Bus(ctx context.Context) (name string, err error) {
	err = r.row(ctx, func(row pgx.Row) error { return row.Scan(&name) }, `SELECT `+busName)
	return name, err
}

// SetBus implements [event.BusRows].
func (r outboxRows) SetBus(ctx context.Context, name string) error {
	if err := r.write(ctx, "bus", lockPublication); err != nil {
		return err
	}
	if name == "" {
		return r.write(ctx, "bus", `DELETE FROM buses WHERE tenant = $1`, busTenant)
	}
	return r.write(ctx, "bus "+name,
		`INSERT INTO buses (tenant, name) VALUES ($1, $2) ON CONFLICT (tenant) DO UPDATE SET name = excluded.name`, busTenant, name)
}

// CountWaiting implements [event.BusRows].
func (r outboxRows) CountWaiting(ctx context.Context) (n int64, err error) {
	err = r.row(ctx, func(row pgx.Row) error { return row.Scan(&n) }, `SELECT count(*) FROM exports WHERE sent_number IS NULL`)
	return n, err
}
