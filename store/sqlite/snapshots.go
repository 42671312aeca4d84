package sqlite

import (
	"context"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/span"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// InsertSnapshot implements [snapshot.Rows].
func (r snapshotRows) InsertSnapshot(ctx context.Context, tenant string, segment int64, row snapshot.Row) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	var auto any
	if row.Auto {
		auto = int64(1)
	}
	err := r.c.Prepare(`INSERT INTO snapshots (tenant, snapshot_id, segment, after_seq, created_at, doc, auto) VALUES (?, ?, ?, ?, ?, ?, ?)`).
		Text(tenant).Text(row.ID).Int(segment).Int(row.AfterSeq).Int(micros(row.At)).Text(row.Doc).Value(auto).Run()
	if taken(err) {
		return snapshot.ErrExists
	}
	return r.fail(err)
}

const snapshotColumns = `snapshot_id, after_seq, created_at, doc, coalesce(auto, 0)`

func readSnapshot(q *lite.Stmt) snapshot.Row {
	return snapshot.Row{ID: q.ReadText(), AfterSeq: q.ReadInt(), At: fromMicros(q.ReadInt()), Doc: q.ReadText(), Auto: q.ReadInt() == 1}
}

// Snapshot implements [snapshot.Rows].
func (r snapshotRows) Snapshot(ctx context.Context, tenant string, spans []span.Span, id string) (snapshot.Row, error) {
	if err := r.reading(ctx); err != nil {
		return snapshot.Row{}, err
	}
	var segment int64
	row, ok, err := one(r.tx, r.c.Prepare(`SELECT segment, `+snapshotColumns+` FROM snapshots WHERE tenant = ? AND snapshot_id = ?`).
		Text(tenant).Text(id), func(q *lite.Stmt) snapshot.Row {
		segment = q.ReadInt()
		return readSnapshot(q)
	})
	if err != nil {
		return snapshot.Row{}, err
	}
	along := func(s span.Span) bool { return s.Segment == segment && row.AfterSeq <= s.To }
	if !ok || !slices.ContainsFunc(spans, along) {
		return snapshot.Row{}, snapshot.ErrNotFound
	}
	return row, nil
}

// Snapshots implements [snapshot.Rows].
func (r snapshotRows) Snapshots(ctx context.Context, tenant string, spans []span.Span, before string, limit int) ([]snapshot.Row, error) {
	if err := r.reading(ctx); err != nil || limit <= 0 {
		return nil, err
	}
	// Every text is smaller than any blob.
	sql := `SELECT ` + snapshotColumns + ` FROM snapshots WHERE tenant = ? AND segment = ? AND snapshot_id < coalesce(nullif(?, ''), x'')
		AND after_seq <= ? ORDER BY snapshot_id DESC LIMIT ?`
	var rows []snapshot.Row
	for _, s := range spans {
		found, err := all(r.tx, r.c.Prepare(sql).Text(tenant).Int(s.Segment).Text(before).Int(s.To).Int(int64(limit)), readSnapshot)
		if err != nil {
			return nil, err
		}
		rows = append(rows, found...)
	}
	slices.SortFunc(rows, func(a, b snapshot.Row) int { return strings.Compare(b.ID, a.ID) })
	return rows[:min(limit, len(rows))], nil
}

// DeleteSnapshot implements [snapshot.Rows].
func (r snapshotRows) DeleteSnapshot(ctx context.Context, tenant string, segment int64, id string) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	err := r.c.Prepare(`DELETE FROM snapshots WHERE tenant = ? AND snapshot_id = ? AND segment = ?`).Text(tenant).Text(id).Int(segment).Run()
	if err != nil {
		return r.fail(err)
	}
	if r.c.Changes() == 0 {
		return snapshot.ErrNotFound
	}
	return nil
}

// SweepSnapshots implements [snapshot.Rows].
func (r snapshotRows) SweepSnapshots(ctx context.Context, tenant string, keep, limit int) (int64, error) {
	if err := r.writing(ctx); err != nil || limit <= 0 {
		return 0, err
	}
	// Of the automatic ones of each segment, what is not newer than the first that is not kept.
	err := r.c.Prepare(`DELETE FROM snapshots WHERE id IN (SELECT s.id FROM
		(SELECT DISTINCT segment FROM snapshots WHERE tenant = ?1 AND auto = 1) AS of
		CROSS JOIN snapshots AS s INDEXED BY automatic_snapshots ON s.tenant = ?1 AND s.segment = of.segment AND s.auto = 1 AND s.snapshot_id <=
			(SELECT n.snapshot_id FROM snapshots AS n WHERE n.tenant = ?1 AND n.segment = of.segment AND n.auto = 1 ORDER BY n.snapshot_id DESC LIMIT 1 OFFSET ?2)
		LIMIT ?3)`).Text(tenant).Int(int64(max(keep, 0))).Int(int64(limit)).Run()
	if err != nil {
		return 0, r.fail(err)
	}
	return r.c.Changes(), nil
}
