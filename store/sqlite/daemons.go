package sqlite

import (
	"context"
	"time"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

const markColumns = `name, through, holder, until`

func readMark(q *lite.Stmt) event.Mark {
	return event.Mark{Daemon: q.ReadText(), Through: q.ReadInt(), Holder: q.ReadText(), Until: readTime(q)}
}

// Mark implements [event.DaemonRows]. There is one writer: its transaction keeps others out.
func (r outboxRows) Mark(ctx context.Context, daemon string) (event.Mark, bool, error) {
	if err := r.reading(ctx); err != nil {
		return event.Mark{}, false, err
	}
	return one(r.tx, r.c.Prepare(`SELECT `+markColumns+` FROM daemons WHERE tenant = '' AND name = ?`).Text(daemon), readMark)
}

// Marks implements [event.DaemonRows].
func (r outboxRows) Marks(ctx context.Context) ([]event.Mark, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	return all(r.tx, r.c.Prepare(`SELECT `+markColumns+` FROM daemons WHERE tenant = '' ORDER BY name`), readMark)
}

// PutMark implements [event.DaemonRows].
func (r outboxRows) PutMark(ctx context.Context, m event.Mark) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	q := r.c.Prepare(`INSERT OR REPLACE INTO daemons (tenant, ` + markColumns + `) VALUES ('', ?, ?, ?, ?)`).
		Text(m.Daemon).Int(m.Through).TextOrNull(m.Holder)
	return r.fail(bindTime(q, m.Until).Run())
}

// DeleteMark implements [event.DaemonRows].
func (r outboxRows) DeleteMark(ctx context.Context, daemon string) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	return r.fail(r.c.Prepare(`DELETE FROM daemons WHERE tenant = '' AND name = ?`).Text(daemon).Run())
}

const letterColumns = `tenant, daemon, export_id, session_id, turn_id, tries, error, created_at`

// InsertLetter implements [event.DaemonRows].
func (r outboxRows) InsertLetter(ctx context.Context, l event.Letter) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	return r.fail(r.c.Prepare(`INSERT INTO dead_letters (` + letterColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`).
		Text(l.Tenant).Text(l.Daemon).Text(l.ExportID).Text(l.Session).Text(l.TurnID).Int(int64(l.Tries)).Text(l.Error).Int(micros(l.At)).Run())
}

// Letters implements [event.DaemonRows].
func (r outboxRows) Letters(ctx context.Context, tenant, daemon string, limit int) ([]event.Letter, error) {
	if err := r.reading(ctx); err != nil || limit <= 0 {
		return nil, err
	}
	sql := `SELECT ` + letterColumns + ` FROM dead_letters WHERE tenant = ? ORDER BY created_at DESC, export_id, daemon LIMIT ?`
	if daemon != "" {
		sql = `SELECT ` + letterColumns + ` FROM dead_letters WHERE tenant = ? AND daemon = ? ORDER BY created_at DESC, export_id LIMIT ?`
	}
	q := r.c.Prepare(sql).Text(tenant)
	if daemon != "" {
		q.Text(daemon)
	}
	return all(r.tx, q.Int(int64(limit)), func(q *lite.Stmt) event.Letter {
		return event.Letter{
			Tenant: q.ReadText(), Daemon: q.ReadText(), ExportID: q.ReadText(), Session: q.ReadText(), TurnID: q.ReadText(),
			Tries: int(q.ReadInt()), Error: q.ReadText(), At: fromMicros(q.ReadInt()),
		}
	})
}

// SweepLetters implements [event.DaemonRows].
func (r outboxRows) SweepLetters(ctx context.Context, tenant string, before time.Time, limit int) (int64, error) {
	if err := r.writing(ctx); err != nil || limit <= 0 {
		return 0, err
	}
	err := r.c.Prepare(`DELETE FROM dead_letters WHERE (tenant, daemon, export_id) IN
		(SELECT tenant, daemon, export_id FROM dead_letters INDEXED BY dead_letters_newest
		WHERE tenant = ? AND created_at < ? ORDER BY created_at LIMIT ?)`).Text(tenant).Int(micros(before)).Int(int64(limit)).Run()
	if err != nil {
		return 0, r.fail(err)
	}
	return r.c.Changes(), nil
}
