package mem

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/internal/span"
	"github.com/turnstone-dev/turnstone/turn"
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

// SetReminder implements [cortex.Rows].
func (r cortexRows) SetReminder(ctx context.Context, tenant string, segment int64, id string, at time.Time) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	key := reminderKey{segmentKey{tenant, segment}, id}
	if at.IsZero() {
		remove(r.tx, r.data.reminders, key)
		return nil
	}
	put(r.tx, r.data.reminders, key, at)
	return nil
}

// DueReminders implements [cortex.Rows].
func (r cortexRows) DueReminders(ctx context.Context, now time.Time, limit int) ([]cortex.Due, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	var keys []reminderKey
	for key, at := range r.data.reminders {
		if !at.After(now) {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b reminderKey) int {
		return cmp.Or(r.data.reminders[a].Compare(r.data.reminders[b]), compareSegments(a.segmentKey, b.segmentKey), cmp.Compare(a.id, b.id))
	})
	var due []cortex.Due
	for _, key := range keys[:min(len(keys), max(limit, 0))] {
		due = append(due, cortex.Due{Tenant: key.tenant, Session: r.data.sessionOf(key.segmentKey), ID: key.id})
	}
	return due, nil
}

// sessionOf returns the id of the session that writes to the segment.
func (d *data) sessionOf(at segmentKey) string {
	keys := d.tenants[at.tenant]
	i, ok := slices.BinarySearchFunc(keys, at.segment, func(k turn.Key, segment int64) int { return cmp.Compare(d.sessions[k].Segment, segment) })
	if !ok {
		return ""
	}
	return keys[i].Session
}
