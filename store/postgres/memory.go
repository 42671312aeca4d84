package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/memory"
)

// memoryRows is the transaction as memory sees it.
type memoryRows struct{ *tx }

const itemColumns = `i.tenant, i.item_id, i.segment, i.session_id, i.user_id, i.type, i.importance,
	i.created_at, i.expires_at, i.archived_at, i.text, i.data, i.about`

func scanItem(row pgx.Row) (r memory.Row, err error) {
	err = row.Scan(itemFields(&r)...)
	return r, err
}

// itemFields are where the columns of an item are read to, behind others.
func itemFields(r *memory.Row, before ...any) []any {
	return append(before, &r.Tenant, &r.ID, &r.Segment, &r.Session, &r.User, &r.Type, &r.Importance,
		(*stamp)(&r.Created), (*stamp)(&r.Expires), (*stamp)(&r.Archived), &r.Text, (*optional)(&r.Data), &r.About)
}

// InsertItems implements [memory.Rows].
func (r memoryRows) InsertItems(ctx context.Context, items []memory.Row) (added int, err error) {
	if err := r.writing(ctx); err != nil || len(items) == 0 {
		return 0, err
	}
	err = r.row(ctx, func(row pgx.Row) error { return row.Scan(&added) },
		`WITH added AS (
			INSERT INTO memory_items (tenant, item_id, segment, session_id, user_id, type, importance,
				created_at, expires_at, archived_at, text, data, about)
			SELECT tenant, item_id, segment, session_id, user_id, type, importance, created_at, expires_at, archived_at, text, data, about
			FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[],
				$9::bigint[], $10::bigint[], $11::text[], $12::text[], $13::text[]) WITH ORDINALITY AS
				item (tenant, item_id, segment, session_id, user_id, type, importance, created_at, expires_at, archived_at, text, data, about, position)
			ORDER BY position
			ON CONFLICT DO NOTHING RETURNING tenant, item_id, segment, archived_at
		), queued AS (INSERT INTO memory_unindexed SELECT tenant, item_id FROM added
		), counted AS (INSERT INTO memory_counts AS c (tenant, segment, items) `+countItems+` FROM added WHERE archived_at IS NULL
			GROUP BY tenant, segment ON CONFLICT (tenant, segment) DO UPDATE SET items = c.items + excluded.items)
		SELECT count(*) FROM added`,
		column(items, func(i memory.Row) string { return i.Tenant }),
		column(items, func(i memory.Row) string { return i.ID }),
		column(items, func(i memory.Row) int64 { return i.Segment }),
		column(items, func(i memory.Row) string { return i.Session }),
		column(items, func(i memory.Row) string { return i.User }),
		column(items, func(i memory.Row) string { return string(i.Type) }),
		column(items, func(i memory.Row) int64 { return i.Importance }),
		column(items, func(i memory.Row) int64 { return i.Created.UnixMicro() }),
		column(items, func(i memory.Row) *int64 { return orNever(i.Expires) }),
		column(items, func(i memory.Row) *int64 { return orNever(i.Archived) }),
		column(items, func(i memory.Row) string { return i.Text }),
		column(items, func(i memory.Row) any { return orNull(i.Data) }),
		column(items, func(i memory.Row) string { return i.About }))
	if added > 0 {
		r.wrote(memoryQueue)
	}
	return added, err
}

// Item implements [memory.Rows].
func (r memoryRows) Item(ctx context.Context, tenant, id string) (memory.Row, error) {
	row, ok, err := one(ctx, r.tx, scanItem, `SELECT `+itemColumns+` FROM memory_items i WHERE i.tenant = $1 AND i.item_id = $2`, tenant, id)
	if err == nil && !ok {
		err = memory.ErrNotFound
	}
	return row, err
}

// ItemsByID implements [memory.Rows].
func (r memoryRows) ItemsByID(ctx context.Context, tenant string, ids []string) ([]memory.Row, error) {
	return list(ctx, r.tx, scanItem,
		`SELECT `+itemColumns+` FROM memory_items i WHERE i.tenant = $1 AND i.item_id = ANY ($2) ORDER BY i.item_id`, tenant, ids)
}

// countItems is how many items memory_counts is to count, of which the rest of the statement says the source.
const countItems = `SELECT tenant, segment, count(*) AS items`

// loadCounts makes memory_counts anew.
const loadCounts = `INSERT INTO memory_counts (tenant, segment, items) ` + countItems + ` FROM memory_items
	WHERE archived_at IS NULL GROUP BY tenant, segment`

// discount takes items that a statement named gone returned from memory_counts.
const discount = ` UPDATE memory_counts c SET items = c.items - g.items
	FROM (` + countItems + ` FROM gone WHERE live GROUP BY tenant, segment) AS g WHERE c.tenant = g.tenant AND c.segment = g.segment`

// LiveItems implements [memory.Rows]. What has expired is counted only until it is swept.
func (r memoryRows) LiveItems(ctx context.Context, tenant string, segment int64, now time.Time) (n int64, err error) {
	err = r.row(ctx, func(row pgx.Row) error { return row.Scan(&n) },
		`SELECT coalesce((SELECT items FROM memory_counts WHERE tenant = $1 AND segment = $2), 0) - (SELECT count(*) FROM memory_items
			WHERE tenant = $1 AND segment = $2 AND archived_at IS NULL AND expires_at <= $3)`, tenant, segment, now.UnixMicro())
	return n, err
}

// ArchiveItems implements [memory.Rows].
func (r memoryRows) ArchiveItems(ctx context.Context, tenant string, ids []string, at time.Time) error {
	return r.write(ctx, "archived memory items", `WITH gone AS (
		UPDATE memory_items SET archived_at = $3 WHERE tenant = $1 AND item_id = ANY ($2) AND archived_at IS NULL
		RETURNING tenant, segment, true AS live)`+discount, tenant, ids, at.UnixMicro())
}

// DeleteItems implements [memory.Rows].
func (r memoryRows) DeleteItems(ctx context.Context, tenant string, ids []string) (int, error) {
	n, err := r.remove(ctx, `tenant = $1 AND item_id = ANY ($2) ORDER BY item_id FOR UPDATE`, tenant, ids)
	return int(n), err
}

// SweepItems implements [memory.Rows].
func (r memoryRows) SweepItems(ctx context.Context, now time.Time, limit int) (int64, error) {
	return r.remove(ctx, `expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED`, now.UnixMicro(), max(limit, 0))
}

// remove locks items and deletes them wherever they stand. The order of the statements matters: an
// indexer holds an item's row of the queue while it moves it to the index. Who deletes that row first
// waits for the indexer, and the next statement then sees what it wrote.
func (r memoryRows) remove(ctx context.Context, which string, args ...any) (int64, error) {
	if err := r.writing(ctx); err != nil {
		return 0, err
	}
	var tenants, ids []string
	err := r.query(ctx, func(rows pgx.Rows) error {
		for rows.Next() {
			var tenant, id string
			if err := rows.Scan(&tenant, &id); err != nil {
				return err
			}
			tenants, ids = append(tenants, tenant), append(ids, id)
		}
		return nil
	}, `SELECT tenant, item_id FROM memory_items WHERE `+which, args...)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	const these = ` USING unnest($1::text[], $2::text[]) AS these (tenant, item_id)
		WHERE t.tenant = these.tenant AND t.item_id = these.item_id`
	for _, sql := range []string{
		`DELETE FROM memory_unindexed t` + these,
		`DELETE FROM memory_index t` + these,
		`WITH gone AS (DELETE FROM memory_items t` + these + ` RETURNING t.tenant, t.segment, t.archived_at IS NULL AS live)` + discount,
	} {
		r.later("deleted memory items", sql, tenants, ids)
	}
	return int64(len(ids)), nil
}

func scanDigest(row pgx.Row) (d memory.DigestRow, err error) {
	err = row.Scan(&d.ThroughSeq, &d.Doc, (*stamp)(&d.At))
	return d, err
}

// Digest implements [memory.Rows].
func (r memoryRows) Digest(ctx context.Context, tenant string, segment int64) (memory.DigestRow, bool, error) {
	return one(ctx, r.tx, scanDigest, `SELECT through_seq, doc, changed_at FROM digests WHERE tenant = $1 AND segment = $2`, tenant, segment)
}

// PutDigest implements [memory.Rows].
func (r memoryRows) PutDigest(ctx context.Context, tenant string, segment int64, d memory.DigestRow) error {
	return r.write(ctx, "digest", `INSERT INTO digests (tenant, segment, through_seq, doc, changed_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (tenant, segment) DO UPDATE SET through_seq = excluded.through_seq, doc = excluded.doc, changed_at = excluded.changed_at`,
		tenant, segment, d.ThroughSeq, d.Doc, d.At.UnixMicro())
}
