package mem

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/scratch"
)

// scratchRows is the transaction as scratch pages see it.
type scratchRows struct{ *tx }

// PutObservation implements [scratch.Rows].
func (r scratchRows) PutObservation(ctx context.Context, tenant string, segment int64, row scratch.Row) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	put(r.tx, r.segment(tenant, segment).observations, row.ID, row)
	return nil
}

// Observation implements [scratch.Rows].
func (r scratchRows) Observation(ctx context.Context, tenant string, segment int64, id string) (scratch.Row, bool, error) {
	if err := r.reading(ctx); err != nil {
		return scratch.Row{}, false, err
	}
	s := r.data.segment(tenant, segment)
	if s == nil {
		return scratch.Row{}, false, nil
	}
	row, ok := s.observations[id]
	return row, ok, nil
}

// Observations implements [scratch.Rows].
func (r scratchRows) Observations(ctx context.Context, tenant string, segment int64, now time.Time, live bool) ([]scratch.Row, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	s := r.data.segment(tenant, segment)
	if s == nil {
		return nil, nil
	}
	var found []scratch.Row
	for _, row := range s.observations {
		archived := row.Status == scratch.Archived
		if row.Expires.After(now) && !(live && archived) || !live && !archived && row.Expires.Add(scratch.ArchivedRetention).After(now) {
			found = append(found, row)
		}
	}
	slices.SortFunc(found, func(a, b scratch.Row) int { return cmp.Compare(a.ID, b.ID) })
	return found, nil
}

// ExpiredObservations implements [scratch.Rows].
func (r scratchRows) ExpiredObservations(ctx context.Context, now time.Time, limit int) ([]scratch.Placed, error) {
	if err := r.writing(ctx); err != nil {
		return nil, err
	}
	var found []scratch.Placed
	for at, s := range r.data.segments {
		for _, row := range s.observations {
			if row.Status != scratch.Archived && !row.Expires.After(now) {
				found = append(found, scratch.Placed{Tenant: at.tenant, Segment: at.segment, Row: row})
			}
		}
	}
	slices.SortFunc(found, func(a, b scratch.Placed) int {
		return cmp.Or(a.Expires.Compare(b.Expires), cmp.Compare(a.Segment, b.Segment), cmp.Compare(a.ID, b.ID))
	})
	return found[:min(len(found), max(limit, 0))], nil
}

// SweepObservations implements [scratch.Rows].
func (r scratchRows) SweepObservations(ctx context.Context, now time.Time, limit int) (int64, error) {
	if err := r.writing(ctx); err != nil {
		return 0, err
	}
	var swept int64
	for _, s := range r.data.segments {
		swept += sweep(r.tx, s.observations, limit-int(swept), func(row scratch.Row) bool {
			return row.Status == scratch.Archived && !row.Expires.After(now)
		})
	}
	return swept, nil
}

// sweep deletes up to limit rows of a table that are due and returns how many.
func sweep[K comparable, V any](t *tx, table map[K]V, limit int, due func(V) bool) int64 {
	swept := 0
	for key, row := range table {
		if swept >= limit {
			break
		}
		if due(row) {
			remove(t, table, key)
			swept++
		}
	}
	return int64(swept)
}
