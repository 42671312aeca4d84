package scratch

import (
	"context"
	"fmt"
	"time"
)

// Sweep archives up to limit observations whose day is over, and then deletes up to limit whose week is, of all
// sessions. Until it comes by, who reads them sees what it will make of them.
func Sweep(ctx context.Context, rows Rows, now time.Time, limit int) (archived, deleted int64, err error) {
	over, err := rows.ExpiredObservations(ctx, now, limit)
	if err != nil {
		return 0, 0, fmt.Errorf("expired observations: %w", err)
	}
	for _, r := range over {
		if err := rows.PutObservation(ctx, r.Tenant, r.Segment, r.archived()); err != nil {
			return archived, 0, fmt.Errorf("observation %s: %w", r.ID, err)
		}
		archived++
	}
	deleted, err = rows.SweepObservations(ctx, now, limit)
	return archived, deleted, err
}

// archived returns a row whose day is over as it is from then on. One that cannot be read keeps its document,
// which is as damaged as it was: it must not stay for ever, nor keep others from being swept.
func (r Row) archived() Row {
	o, err := r.observation()
	if err != nil {
		r.Status, r.Expires = Archived, r.Expires.Add(ArchivedRetention)
		return r
	}
	o, _ = o.at(o.ExpiresAt)
	return o.row()
}
