package mem

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/trace"
)

// traceRows is the transaction as traces see it.
type traceRows struct{ *tx }

// InsertParts implements [trace.Rows].
func (r traceRows) InsertParts(ctx context.Context, tenant string, parts ...trace.Part) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	for _, p := range parts {
		key := partKey{tenant, p.TurnID, p.ID}
		if _, there := r.data.parts[key]; !there {
			put(r.tx, r.data.parts, key, p)
		}
	}
	return nil
}

// Parts implements [trace.Rows].
func (r traceRows) Parts(ctx context.Context, tenant, turnID string) ([]trace.Part, error) {
	return r.where(ctx, func(key partKey, _ trace.Part) bool { return key.tenant == tenant && key.turn == turnID },
		func(a, b trace.Part) int { return cmp.Or(cmp.Compare(a.Segment, b.Segment), cmp.Compare(a.ID, b.ID)) })
}

// PartsOf implements [trace.Rows].
func (r traceRows) PartsOf(ctx context.Context, tenant string, segment int64) ([]trace.Part, error) {
	return r.where(ctx, func(key partKey, p trace.Part) bool { return key.tenant == tenant && p.Segment == segment },
		func(a, b trace.Part) int { return cmp.Or(cmp.Compare(a.TurnID, b.TurnID), cmp.Compare(a.ID, b.ID)) })
}

func (r traceRows) where(ctx context.Context, wanted func(partKey, trace.Part) bool, order func(a, b trace.Part) int) ([]trace.Part, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	var found []trace.Part
	for key, p := range r.data.parts {
		if wanted(key, p) {
			found = append(found, p)
		}
	}
	slices.SortFunc(found, order)
	return found, nil
}

// SweepParts implements [trace.Rows].
func (r traceRows) SweepParts(ctx context.Context, before time.Time, limit int) (int64, error) {
	if err := r.writing(ctx); err != nil {
		return 0, err
	}
	return sweep(r.tx, r.data.parts, limit, func(p trace.Part) bool { return p.At.Before(before) }), nil
}
