package snapshot

import (
	"context"
	"fmt"
	"slices"

	"github.com/turnstone-dev/turnstone/internal/span"
)

// Fork pins what a fork inherits at the fork point itself, by copying the snapshots that were taken there into the
// fork's own segment: what the parent takes there later, or deletes, is the parent's alone. ParentSpans are the
// parent's lineage up to the fork point. What was taken before it is inherited where it lies.
//
// A tenant knows a snapshot by its id, so that the copies get new ones from newID, in the same order. They go on
// saying in which session they were taken. A damaged one is not copied.
func Fork(ctx context.Context, rows Rows, tenant string, parentSpans []span.Span, newSegment, forkSeq int64, newID func() string) error {
	var there []Snapshot
	for before, more := "", true; more; {
		page, err := rows.Snapshots(ctx, tenant, parentSpans, before, pageSize)
		if err != nil {
			return fmt.Errorf("snapshots at turn %d: %w", forkSeq, err)
		}
		more = len(page) == pageSize
		for _, row := range page {
			before = row.ID
			if row.AfterSeq != forkSeq {
				continue
			}
			if s, err := Decode(row); err == nil {
				there = append(there, s)
			}
		}
	}
	for _, s := range slices.Backward(there) {
		s.ID = newID()
		if err := Take(ctx, rows, tenant, newSegment, s); err != nil {
			return err
		}
	}
	return nil
}
