package prompt

import (
	"context"
	"errors"
	"fmt"

	"github.com/turnstone-dev/turnstone/internal/span"
)

// Fork pins what a fork inherits at the fork point itself, by copying the epochs, the pins and the calls
// that were written there into the fork's own segment. ParentSpans are the parent's lineage up to the fork
// point. What was written before the fork point is inherited where it lies.
func Fork(ctx context.Context, rows Rows, tenant string, parentSpans []span.Span, newSegment, forkSeq int64) error {
	if err := forkEpochs(ctx, rows, tenant, parentSpans, newSegment, forkSeq); err != nil {
		return err
	}
	pins, err := rows.Pins(ctx, tenant, parentSpans)
	if err != nil {
		return fmt.Errorf("pins at turn %d: %w", forkSeq, err)
	}
	for _, r := range pins {
		if r.AfterSeq != forkSeq {
			continue
		}
		if err := rows.InsertPin(ctx, tenant, newSegment, r); err != nil {
			return fmt.Errorf("pin %d: %w", r.Number, err)
		}
	}
	return forkCalls(ctx, rows, tenant, parentSpans, newSegment, forkSeq)
}

// forkCalls copies all calls at the fork point, so that the numbers of the fork's have no gap.
func forkCalls(ctx context.Context, rows Rows, tenant string, parentSpans []span.Span, newSegment, forkSeq int64) error {
	last, err := rows.LastCall(ctx, tenant, parentSpans, forkSeq)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("prompt at turn %d: %w", forkSeq, err)
	}
	before, err := rows.LastCall(ctx, tenant, parentSpans, forkSeq-1)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return fmt.Errorf("prompt at turn %d: %w", forkSeq-1, err)
	}
	if last.Number <= before.Number {
		return nil
	}
	calls, err := rows.Calls(ctx, tenant, parentSpans, before.Number, int(last.Number-before.Number))
	if err != nil {
		return fmt.Errorf("prompts at turn %d: %w", forkSeq, err)
	}
	for _, c := range calls {
		if err := rows.InsertCall(ctx, tenant, newSegment, c); err != nil {
			return fmt.Errorf("prompt %d: %w", c.Number, err)
		}
	}
	return nil
}

func forkEpochs(ctx context.Context, rows Rows, tenant string, parentSpans []span.Span, newSegment, forkSeq int64) error {
	last, err := rows.LastEpoch(ctx, tenant, parentSpans)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("epoch at turn %d: %w", forkSeq, err)
	}
	// Downwards from the last one: epochs are opened in the order of the log, and few at one turn.
	for e := last; e.AfterSeq == forkSeq; {
		if err := rows.InsertEpoch(ctx, tenant, newSegment, e); err != nil {
			return fmt.Errorf("epoch %d: %w", e.Number, err)
		}
		if e.Number == 1 {
			return nil
		}
		before := e.Number - 1
		if e, err = rows.Epoch(ctx, tenant, parentSpans, before); err != nil {
			return fmt.Errorf("epoch %d: %w", before, err)
		}
	}
	return nil
}
