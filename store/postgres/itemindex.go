package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/memory"
)

// memoryQueue stands for the queue of items among the segments that the indexer works on: none has this key.
var memoryQueue segmentKey

// indexItems moves items from the queue to memory_index. The rows of the queue are the lock.
func (t *tx) indexItems(ctx context.Context, how claim) (n int, more bool, err error) {
	items, err := list(ctx, t, scanItem, `WITH claimed AS MATERIALIZED (
			SELECT tenant, item_id FROM memory_unindexed ORDER BY tenant, item_id LIMIT $1`+string(how)+`)
		SELECT `+itemColumns+` FROM (
			SELECT i.*, sum(octet_length(i.text)) OVER (ORDER BY i.tenant, i.item_id) - octet_length(i.text) AS before
			FROM claimed q JOIN memory_items i ON i.tenant = q.tenant AND i.item_id = q.item_id
		) AS i WHERE i.before < $2`, indexRows, indexBytes)
	if err != nil {
		return 0, false, err
	}
	if len(items) == 0 {
		return t.moreItems(ctx, how)
	}
	for _, i := range items {
		t.later("", `INSERT INTO memory_index (tenant, item_id, segment, user_id, type, importance, created_at, expires_at, tokens)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING`,
			i.Tenant, i.ID, i.Segment, i.User, string(i.Type), i.Importance, i.Created.UnixMicro(), orNever(i.Expires),
			append(memory.RowTerms(i), scopeToken(i.Segment), userToken(i.Tenant, i.User), tenantToken(i.Tenant)))
		t.later("", `DELETE FROM memory_unindexed WHERE tenant = $1 AND item_id = $2`, i.Tenant, i.ID)
	}
	return len(items), true, nil
}

// moreItems is the answer where nothing could be claimed. Who waited for others finds what they took
// gone, and there may be more behind it.
func (t *tx) moreItems(ctx context.Context, how claim) (n int, more bool, err error) {
	if how == claimFree {
		return 0, false, nil
	}
	err = t.row(ctx, func(row pgx.Row) error { return row.Scan(&more) },
		`SELECT EXISTS (SELECT FROM memory_unindexed q JOIN memory_items i ON i.tenant = q.tenant AND i.item_id = q.item_id)`)
	return 0, more, err
}

// loadQueue has all items indexed anew.
const loadQueue = `INSERT INTO memory_unindexed (tenant, item_id) SELECT tenant, item_id FROM memory_items`
