package cortex

import (
	"context"
	"fmt"

	"github.com/turnstone-dev/turnstone/internal/span"
)

// Fork pins what a fork inherits at the fork point itself, by copying the versions written there into the
// fork's own segment. ParentSpans are the parent's lineage up to the fork point. Without it a
// parent that changes a goal at the fork point, before its next turn, would change the fork's too.
// What was written before the fork point is inherited where it lies. A reminder that was sent is the fork's to escalate
// too, if nobody answers it there.
func Fork(ctx context.Context, rows Rows, tenant string, parentSpans []span.Span, newSegment, forkSeq int64) error {
	newest, err := rows.Newest(ctx, tenant, parentSpans, false)
	if err != nil {
		return fmt.Errorf("goals and actions of turn %d: %w", forkSeq, err)
	}
	for _, r := range newest {
		if at, ok := r.escalates(); ok {
			if err := rows.SetReminder(ctx, tenant, newSegment, r.ID, at); err != nil {
				return fmt.Errorf("reminder %s: %w", r.ID, err)
			}
		}
		// A later version is never written at an earlier turn, so the newest tells.
		if r.AfterSeq != forkSeq {
			continue
		}
		versions, err := rows.Versions(ctx, tenant, parentSpans, r.Kind, r.ID)
		if err != nil {
			return fmt.Errorf("versions of %s %s: %w", r.Kind, r.ID, err)
		}
		for _, v := range versions {
			if v.AfterSeq != forkSeq {
				continue
			}
			if err := rows.InsertVersion(ctx, tenant, newSegment, v); err != nil {
				return fmt.Errorf("%s %s version %d: %w", v.Kind, v.ID, v.Version, err)
			}
		}
	}
	return nil
}
