package mem

import (
	"context"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/span"
	"github.com/turnstone-dev/turnstone/snapshot"
)

// snapshotRows is the transaction as snapshots see it.
type snapshotRows struct{ *tx }

// segmentSnapshot is a snapshot with the segment it was taken in.
type segmentSnapshot struct {
	snapshot.Row
	segment int64
}

// InsertSnapshot implements [snapshot.Rows].
func (r snapshotRows) InsertSnapshot(ctx context.Context, tenant string, segment int64, row snapshot.Row) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	key := rowKey{tenant, row.ID}
	if _, taken := r.data.snapshots[key]; taken {
		return snapshot.ErrExists
	}
	put(r.tx, r.data.snapshots, key, segmentSnapshot{row, segment})
	s := r.segment(tenant, segment)
	set(r.tx, &s.snapshots, addID(s.snapshots, row.ID))
	return nil
}

// Snapshot implements [snapshot.Rows].
func (r snapshotRows) Snapshot(ctx context.Context, tenant string, spans []span.Span, id string) (snapshot.Row, error) {
	if err := r.reading(ctx); err != nil {
		return snapshot.Row{}, err
	}
	row, there := r.data.snapshots[rowKey{tenant, id}]
	if !there || !slices.ContainsFunc(spans, row.along) {
		return snapshot.Row{}, snapshot.ErrNotFound
	}
	return row.Row, nil
}

func (r segmentSnapshot) along(s span.Span) bool { return s.Segment == r.segment && r.AfterSeq <= s.To }

// Snapshots implements [snapshot.Rows].
func (r snapshotRows) Snapshots(ctx context.Context, tenant string, spans []span.Span, before string, limit int) ([]snapshot.Row, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	var found []snapshot.Row
	for _, along := range spans {
		s := r.data.segment(tenant, along.Segment)
		if s == nil {
			continue
		}
		for _, id := range s.snapshots {
			row := r.data.snapshots[rowKey{tenant, id}]
			if (before == "" || id < before) && row.along(along) {
				found = append(found, row.Row)
			}
		}
	}
	slices.SortFunc(found, func(a, b snapshot.Row) int { return strings.Compare(b.ID, a.ID) })
	return found[:min(max(limit, 0), len(found))], nil
}

// DeleteSnapshot implements [snapshot.Rows].
func (r snapshotRows) DeleteSnapshot(ctx context.Context, tenant string, segment int64, id string) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	if row, there := r.data.snapshots[rowKey{tenant, id}]; !there || row.segment != segment {
		return snapshot.ErrNotFound
	}
	r.delete(tenant, r.segment(tenant, segment), []string{id})
	return nil
}

// delete removes those of a segment that have one of the ids, which ascend.
func (r snapshotRows) delete(tenant string, s *segment, ids []string) {
	for _, id := range ids {
		remove(r.tx, r.data.snapshots, rowKey{tenant, id})
	}
	set(r.tx, &s.snapshots, slices.DeleteFunc(slices.Clone(s.snapshots), func(id string) bool {
		_, gone := slices.BinarySearch(ids, id)
		return gone
	}))
}

// SweepSnapshots implements [snapshot.Rows].
func (r snapshotRows) SweepSnapshots(ctx context.Context, tenant string, keep, limit int) (swept int64, err error) {
	if err := r.writing(ctx); err != nil {
		return 0, err
	}
	for key, s := range r.data.segments {
		if key.tenant != tenant {
			continue
		}
		auto := slices.DeleteFunc(slices.Clone(s.snapshots), func(id string) bool { return !r.data.snapshots[rowKey{tenant, id}].Auto })
		if due := min(len(auto)-max(keep, 0), limit-int(swept)); due > 0 {
			r.delete(tenant, s, auto[:due])
			swept += int64(due)
		}
	}
	return swept, nil
}
