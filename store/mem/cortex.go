package mem

import (
	"cmp"
	"context"
	"slices"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/internal/span"
)

// cortexRows is the transaction as goals and actions see it.
type cortexRows struct{ *tx }

// InsertVersion implements [cortex.Rows].
func (r cortexRows) InsertVersion(ctx context.Context, tenant string, segment int64, row cortex.Row) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	s, key := r.segment(tenant, segment), intentionKey{row.Kind, row.ID}
	versions := s.intentions[key]
	i, taken := slices.BinarySearchFunc(versions, row.Version, func(v cortex.Row, version int64) int {
		return cmp.Compare(v.Version, version)
	})
	if taken {
		return cortex.ErrStale
	}
	put(r.tx, s.intentions, key, insertAt(versions, i, row))
	return nil
}

// Newest implements [cortex.Rows].
func (r cortexRows) Newest(ctx context.Context, tenant string, spans []span.Span, live bool) ([]cortex.Row, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	highest := make(map[intentionKey]cortex.Row)
	for _, along := range spans {
		s := r.data.segment(tenant, along.Segment)
		if s == nil {
			continue
		}
		for key, versions := range s.intentions {
			for _, v := range slices.Backward(versions) {
				if v.AfterSeq <= along.To {
					if v.Version > highest[key].Version {
						highest[key] = v
					}
					break
				}
			}
		}
	}
	var found []cortex.Row
	for _, key := range inOrder(highest, compareIntentions) {
		if row := highest[key]; row.Live || !live {
			found = append(found, row)
		}
	}
	return found, nil
}

// Versions implements [cortex.Rows].
func (r cortexRows) Versions(ctx context.Context, tenant string, spans []span.Span, kind cortex.Kind, id string) ([]cortex.Row, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	var found []cortex.Row
	for _, along := range spans {
		s := r.data.segment(tenant, along.Segment)
		if s == nil {
			continue
		}
		for _, v := range s.intentions[intentionKey{kind, id}] {
			if v.AfterSeq <= along.To {
				found = append(found, v)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b cortex.Row) int { return cmp.Compare(a.Version, b.Version) })
	return found, nil
}
