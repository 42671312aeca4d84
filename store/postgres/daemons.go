package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/event"
)

// daemonTenant is the tenant of marks, which belong to none.
const daemonTenant = ""

const markColumns = `name, through, holder, until`

func scanMark(row pgx.Row) (m event.Mark, err error) {
	err = row.Scan(&m.Daemon, &m.Through, (*optional)(&m.Holder), (*stamp)(&m.Until))
	return m, err
}

// Mark implements [event.DaemonRows]. The lock is one on the name, since there may be no row to lock.
func (r outboxRows) Mark(ctx context.Context, daemon string) (event.Mark, bool, error) {
	if r.writable {
		if err := r.lockMark(ctx, daemon); err != nil {
			return event.Mark{}, false, err
		}
	}
	return one(ctx, r.tx, scanMark, `SELECT `+markColumns+` FROM daemons WHERE tenant = $1 AND name = $2`, daemonTenant, daemon)
}

// lockMark queues the lock of a mark. The statement after it reads what the last holder left.
func (r outboxRows) lockMark(ctx context.Context, daemon string) error {
	return r.write(ctx, "mark of daemon "+daemon,
		`SELECT pg_advisory_xact_lock(hashtext('turnstone daemon of ' || current_schema()), hashtext($1))`, daemon)
}

// Marks implements [event.DaemonRows].
func (r outboxRows) Marks(ctx context.Context) ([]event.Mark, error) {
	return list(ctx, r.tx, scanMark, `SELECT `+markColumns+` FROM daemons WHERE tenant = $1 ORDER BY name`, daemonTenant)
}

// PutMark implements [event.DaemonRows].
func (r outboxRows) PutMark(ctx context.Context, m event.Mark) error {
	if err := r.lockMark(ctx, m.Daemon); err != nil {
		return err
	}
	return r.write(ctx, "mark of daemon "+m.Daemon,
		`INSERT INTO daemons (tenant, name, through, holder, until) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (tenant, name) DO UPDATE SET through = excluded.through, holder = excluded.holder, until = excluded.until`,
		daemonTenant, m.Daemon, m.Through, orNull(m.Holder), orNever(m.Until))
}

// DeleteMark implements [event.DaemonRows].
func (r outboxRows) DeleteMark(ctx context.Context, daemon string) error {
	if err := r.lockMark(ctx, daemon); err != nil {
		return err
	}
	return r.write(ctx, "mark of daemon "+daemon, `DELETE FROM daemons WHERE tenant = $1 AND name = $2`, daemonTenant, daemon)
}

// InsertLetter implements [event.DaemonRows].
func (r outboxRows) InsertLetter(ctx context.Context, l event.Letter) error {
	return r.write(ctx, "dead letter "+l.ExportID+" of daemon "+l.Daemon,
		`INSERT INTO dead_letters (tenant, daemon, export_id, session_id, turn_id, tries, error, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`,
		l.Tenant, l.Daemon, l.ExportID, l.Session, l.TurnID, int64(l.Tries), l.Error, l.At.UnixMicro())
}

func scanLetter(row pgx.Row) (l event.Letter, err error) {
	err = row.Scan(&l.Tenant, &l.Daemon, &l.ExportID, &l.Session, &l.TurnID, &l.Tries, &l.Error, (*stamp)(&l.At))
	return l, err
}

// Letters implements [event.DaemonRows].
func (r outboxRows) Letters(ctx context.Context, tenant, daemon string, limit int) ([]event.Letter, error) {
	return list(ctx, r.tx, scanLetter,
		`SELECT tenant, daemon, export_id, session_id, turn_id, tries, error, created_at FROM dead_letters
		WHERE tenant = $1 AND ($2 = '' OR daemon = $2) ORDER BY created_at DESC, export_id, daemon LIMIT $3`, tenant, daemon, max(limit, 0))
}

// SweepLetters implements [event.DaemonRows].
func (r outboxRows) SweepLetters(ctx context.Context, tenant string, before time.Time, limit int) (int64, error) {
	return r.exec(ctx, `DELETE FROM dead_letters WHERE `+chosen("dead_letters", "tenant = $3 AND created_at < $1", "created_at"),
		before.UnixMicro(), max(limit, 0), tenant)
}
