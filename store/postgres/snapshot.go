package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/internal/span"
	"github.com/turnstone-dev/turnstone/snapshot"
)

// snapshotRows is the transaction as snapshots see it.
type snapshotRows struct{ *tx }

const (
	snapshotColumns = `snapshot_id, after_seq, doc, created_at, auto IS NOT DISTINCT FROM 1 AS auto`

	snapshotSQL = `SELECT ` + snapshotColumns + ` FROM snapshots AS s WHERE tenant = $1 AND snapshot_id = $4 AND EXISTS (
		SELECT FROM unnest($2::bigint[], $3::bigint[]) AS span (segment, to_seq) WHERE span.segment = s.segment AND s.after_seq <= span.to_seq)`

	// snapshotsSQL finds the newest, and earlierSnapshotsSQL the newest before $5.
	snapshotsSQL        = snapshotsAlong + snapshotsNewest
	earlierSnapshotsSQL = snapshotsAlong + ` AND snapshot_id < $5` + snapshotsNewest
	snapshotsAlong      = `SELECT row.*` + fromSpans + `LATERAL (SELECT ` + snapshotColumns + ` FROM snapshots
			WHERE tenant = $1 AND segment = span.segment AND after_seq <= span.to_seq`
	snapshotsNewest = ` ORDER BY snapshot_id DESC LIMIT $4) AS row ORDER BY row.snapshot_id DESC LIMIT $4`

	// sweepSnapshotsSQL deletes, of the automatic ones of each segment, what is not newer than the first that is not kept, and
	// passes over what others have locked. ARRAY is what makes the limit hold, like that of other sweeps.
	sweepSnapshotsSQL = `DELETE FROM snapshots WHERE ctid = ANY (ARRAY(SELECT s.ctid FROM
		(SELECT DISTINCT segment FROM snapshots WHERE tenant = $1 AND auto = 1) AS each,
		LATERAL (SELECT snapshot_id FROM snapshots WHERE tenant = $1 AND segment = each.segment AND auto = 1 ORDER BY snapshot_id DESC LIMIT 1 OFFSET $2) AS first,
		snapshots AS s WHERE s.tenant = $1 AND s.segment = each.segment AND s.auto = 1 AND s.snapshot_id <= first.snapshot_id
		LIMIT $3 FOR UPDATE OF s SKIP LOCKED))`
)

// InsertSnapshot implements [snapshot.Rows].
func (r snapshotRows) InsertSnapshot(ctx context.Context, tenant string, segment int64, row snapshot.Row) error {
	return r.insert(ctx, "snapshot "+row.ID, snapshot.ErrExists,
		`INSERT INTO snapshots (tenant, snapshot_id, segment, after_seq, doc, created_at, auto) VALUES ($1, $2, $3, $4, $5, $6, CASE WHEN $7 THEN 1 END)`,
		tenant, row.ID, segment, row.AfterSeq, row.Doc, row.At.UnixMicro(), row.Auto)
}

func scanSnapshot(row pgx.Row) (r snapshot.Row, err error) {
	err = row.Scan(&r.ID, &r.AfterSeq, &r.Doc, (*stamp)(&r.At), &r.Auto)
	return r, err
}

// Snapshot implements [snapshot.Rows].
func (r snapshotRows) Snapshot(ctx context.Context, tenant string, spans []span.Span, id string) (snapshot.Row, error) {
	segments, ends := along(spans)
	row, ok, err := one(ctx, r.tx, scanSnapshot, snapshotSQL, tenant, segments, ends, id)
	if err == nil && !ok {
		err = snapshot.ErrNotFound
	}
	return row, err
}

// Snapshots implements [snapshot.Rows].
func (r snapshotRows) Snapshots(ctx context.Context, tenant string, spans []span.Span, before string, limit int) ([]snapshot.Row, error) {
	segments, ends := along(spans)
	if before == "" {
		return list(ctx, r.tx, scanSnapshot, snapshotsSQL, tenant, segments, ends, max(limit, 0))
	}
	return list(ctx, r.tx, scanSnapshot, earlierSnapshotsSQL, tenant, segments, ends, max(limit, 0), before)
}

// DeleteSnapshot implements [snapshot.Rows].
func (r snapshotRows) DeleteSnapshot(ctx context.Context, tenant string, segment int64, id string) error {
	deleted, err := r.exec(ctx, `DELETE FROM snapshots WHERE tenant = $1 AND snapshot_id = $2 AND segment = $3`, tenant, id, segment)
	if err == nil && deleted == 0 {
		err = snapshot.ErrNotFound
	}
	return err
}

// SweepSnapshots implements [snapshot.Rows].
func (r snapshotRows) SweepSnapshots(ctx context.Context, tenant string, keep, limit int) (int64, error) {
	return r.exec(ctx, sweepSnapshotsSQL, tenant, max(keep, 0), max(limit, 0))
}
