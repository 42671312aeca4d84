package compress

import (
	"context"
	"fmt"
	"time"

	"github.com/turnstone-dev/turnstone/turn"
)

// pageNumbers is how many checkpoints a fork looks at in one go.
const pageNumbers = 64

// Fork pins what a fork inherits at the fork point itself, by copying the versions of checkpoints that were
// written there into the fork's own segment: numbers and versions stay, so that the fork's epochs find what they
// refer to, and what the parent adds there later is the parent's alone. What was written before the fork point
// is inherited where it lies.
//
// What is known of failed passes is copied, too, since it is the same summariser that fails. That a range made no
// progress is known of the parent's last epoch, and goes along only where the fork begins after the parent's last
// turn.
func Fork(ctx context.Context, rows Rows, parent turn.SessionInfo, newSegment, forkSeq int64, at time.Time) error {
	for after, more := int64(0), true; more; {
		page, err := rows.Checkpoints(ctx, parent.Tenant, parent.Lineage(forkSeq), after, pageNumbers)
		if err != nil {
			return fmt.Errorf("checkpoints at turn %d: %w", forkSeq, err)
		}
		more = len(page) > 0
		for _, r := range page {
			after = r.Number
			if r.AfterSeq != forkSeq {
				continue
			}
			if err := rows.InsertCheckpoint(ctx, parent.Tenant, newSegment, r); err != nil {
				return fmt.Errorf("version %d of checkpoint %d: %w", r.Version, r.Number, err)
			}
		}
	}
	return forkBreaker(ctx, rows, parent, newSegment, forkSeq, at)
}

func forkBreaker(ctx context.Context, rows Rows, parent turn.SessionInfo, newSegment, forkSeq int64, at time.Time) error {
	doc, ok, err := rows.Breaker(ctx, parent.Tenant, parent.Segment)
	if err != nil {
		return fmt.Errorf("failed passes: %w", err)
	}
	b, err := DecodeBreaker(doc)
	// One that is damaged is as good as none.
	if !ok || err != nil {
		return nil
	}
	if forkSeq != parent.Head {
		b = b.Stuck(0, turn.Range{}, 0)
	}
	if b == (Breaker{}) {
		return nil
	}
	if err := rows.PutBreaker(ctx, parent.Tenant, newSegment, string(b.AppendJSON(nil)), at); err != nil {
		return fmt.Errorf("failed passes: %w", err)
	}
	return nil
}
