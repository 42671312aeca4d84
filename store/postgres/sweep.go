package postgres

import (
	"context"
	"time"
)

// chosen finds up to $2 rows, the oldest first, and passes over those that others have locked. ARRAY is
// what makes it run once, where a join could run it again and find more than the limit.
func chosen(table, condition, oldest string) string {
	return `ctid = ANY (ARRAY(SELECT ctid FROM ` + table + ` WHERE ` + condition + ` ORDER BY ` + oldest + ` LIMIT $2 FOR UPDATE SKIP LOCKED))`
}

// sweep deletes up to limit rows of a table that pass a condition on the time $1.
func (t *tx) sweep(ctx context.Context, limit int, table, condition, oldest string, at time.Time) (int64, error) {
	return t.exec(ctx, `DELETE FROM `+table+` WHERE `+chosen(table, condition, oldest), at.UnixMicro(), max(limit, 0))
}
