package sqlite

import (
	"context"
	"time"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// InsertExport implements [event.ExportRows].
func (r outboxRows) InsertExport(ctx context.Context, e event.Export) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	err := r.c.Prepare(`INSERT INTO exports (tenant, export_id, session_id, segment, turn_id, first_seq, last_seq, status, created_at, body)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`).
		Text(e.Tenant).Text(e.ID).Text(e.Session).Int(e.Segment).Text(e.TurnID).Int(e.First).Int(e.Last).Text(e.Status).
		Int(micros(e.At)).Text(e.Body).Run()
	if taken(err) {
		return event.ErrExists
	}
	return r.fail(err)
}

// sentNumber is the number of an export, null while it waits.
const sentNumber = `CASE WHEN sent_number <= (SELECT position FROM relay) THEN sent_number END`

// sentAt is when an export was sent, null while it waits and where that is not known.
const sentAt = `(SELECT p.sent_at FROM publications p WHERE p.through >= exports.sent_number ORDER BY p.through LIMIT 1)`

const (
	exportHead   = `tenant, export_id, session_id, segment, turn_id, first_seq, last_seq, status, created_at`
	exportFields = exportHead + `, body`
	// bodilessFields are the same without the body, which is empty then.
	bodilessFields = exportHead + `, NULL`
)

const exportColumns = exportFields + `, ` + sentNumber

func readExport(q *lite.Stmt) event.Export {
	return event.Export{
		Tenant: word(q.ReadRaw()), ID: q.ReadText(), Session: q.ReadText(), Segment: q.ReadInt(), TurnID: q.ReadText(),
		First: q.ReadInt(), Last: q.ReadInt(), Status: word(q.ReadRaw()), At: fromMicros(q.ReadInt()), Body: q.ReadText(), Sent: q.ReadInt(),
	}
}

// Export implements [event.ExportRows].
func (r outboxRows) Export(ctx context.Context, tenant, id string) (event.Export, error) {
	if err := r.reading(ctx); err != nil {
		return event.Export{}, err
	}
	e, ok, err := one(r.tx, r.c.Prepare(`SELECT `+exportColumns+` FROM exports WHERE tenant = ? AND export_id = ?`).
		Text(tenant).Text(id), readExport)
	if err == nil && !ok {
		err = event.ErrNotFound
	}
	return e, err
}

// ExportsOf implements [event.ExportRows].
func (r outboxRows) ExportsOf(ctx context.Context, tenant, turnID string) ([]event.Export, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	return all(r.tx, r.c.Prepare(`SELECT `+exportColumns+` FROM exports INDEXED BY exports_by_turn
		WHERE tenant = ? AND turn_id = ? ORDER BY export_id`).Text(tenant).Text(turnID), readExport)
}

// SetExportStatus implements [event.ExportRows].
func (r outboxRows) SetExportStatus(ctx context.Context, tenant, id, status string) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	err := r.c.Prepare(`UPDATE exports SET status = ? WHERE tenant = ? AND export_id = ?`).Text(status).Text(tenant).Text(id).Run()
	if err == nil && r.c.Changes() == 0 {
		return event.ErrNotFound
	}
	return r.fail(err)
}

// Published implements [event.ExportRows].
func (r outboxRows) Published(ctx context.Context, after int64, limit int) ([]event.Export, error) {
	if err := r.reading(ctx); err != nil || limit <= 0 {
		return nil, err
	}
	return all(r.tx, r.c.Prepare(`SELECT `+exportFields+`, sent_number FROM exports
		WHERE sent_number > ? AND sent_number <= (SELECT position FROM relay) ORDER BY sent_number LIMIT ?`).
		Int(after).Int(int64(limit)), readExport)
}

// PublishedOf implements [event.ExportRows].
func (r outboxRows) PublishedOf(ctx context.Context, tenant string, after int64, limit int) ([]event.Export, error) {
	if err := r.reading(ctx); err != nil || limit <= 0 {
		return nil, err
	}
	return all(r.tx, r.c.Prepare(`SELECT `+exportFields+`, sent_number FROM exports INDEXED BY exports_of_tenant
		WHERE tenant = ? AND sent_number > ? AND sent_number <= (SELECT position FROM relay) ORDER BY sent_number LIMIT ?`).
		Text(tenant).Int(after).Int(int64(limit)), readExport)
}

// LastPublished implements [event.ExportRows].
func (r outboxRows) LastPublished(ctx context.Context) (int64, error) {
	if err := r.reading(ctx); err != nil {
		return 0, err
	}
	last, _, err := one(r.tx, r.c.Prepare(`SELECT position FROM relay`), readInt)
	return last, err
}

// SweptThrough implements [event.ExportRows].
func (r outboxRows) SweptThrough(ctx context.Context) (int64, error) {
	if err := r.reading(ctx); err != nil {
		return 0, err
	}
	through, _, err := one(r.tx, r.c.Prepare(`SELECT swept FROM relay`), readInt)
	return through, err
}

// SweepExports implements [event.ExportRows].
func (r outboxRows) SweepExports(ctx context.Context, before time.Time, limit int) (int64, error) {
	if err := r.writing(ctx); err != nil {
		return 0, err
	}
	// Exports lie in the order they were sent, so the oldest come first, behind those that were swept. Where
	// a clock went back, young ones may stand before old ones: these are swept when those are.
	if err := r.passSwept(); err != nil {
		return 0, err
	}
	return r.sweep(`UPDATE exports SET body = '' WHERE sent_number IN
		(SELECT sent_number FROM (SELECT sent_number, coalesce(`+sentAt+`, created_at) AS at, body FROM exports
			WHERE sent_number > (SELECT swept FROM relay) AND sent_number <= (SELECT position FROM relay)
			ORDER BY sent_number LIMIT ?2 + 1024)
		WHERE at < ?1 AND body <> '' LIMIT ?2)`, before, limit)
}

// passSwept notes up to where no export has a body.
func (r outboxRows) passSwept() error {
	through, _, err := one(r.tx, r.c.Prepare(`SELECT coalesce(
		(SELECT sent_number - 1 FROM exports WHERE sent_number > swept AND body <> '' ORDER BY sent_number LIMIT 1), position) FROM relay`), readInt)
	if err != nil {
		return err
	}
	return r.fail(r.c.Prepare(`UPDATE relay SET swept = ?1 WHERE swept <> ?1`).Int(through).Run())
}
