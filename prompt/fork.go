package prompt

import (
	"context"
	"errors"
	"fmt"

	"github.com/turnstone-dev/turnstone/internal/span"
)

// Fork pins what a fork inherits at the fork point itself, by copying the epochs, the pins and the calls that
// were written there into the fork's own segment. ParentSpans are the parent's lineage up to the fork
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

// callsAtOnce is how many calls are read at once.
const callsAtOnce = 100

// forkCalls copies all calls at the fork point: they are numbered without a gap.
func forkCalls(ctx context.Context, rows Rows, tenant string, parentSpans []span.Span, newSegment, forkSeq int64) error {
	before, err := rows.LastCall(ctx, tenant, parentSpans, forkSeq-1)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return fmt.Errorf("prompt before turn %d: %w", forkSeq, err)
	}
	for after := before.Number; ; {
		calls, err := rows.Calls(ctx, tenant, parentSpans, after, callsAtOnce)
		if err != nil {
			return fmt.Errorf("prompts at turn %d: %w", forkSeq, err)
		}
		for _, call := range calls {
			if err := rows.InsertCall(ctx, tenant, newSegment, call); err != nil {
				return fmt.Errorf("prompt %d: %w", call.Number, err)
			}
			after = call.Number
		}
		if len(calls) < callsAtOnce {
			return nil
		}
	}
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
