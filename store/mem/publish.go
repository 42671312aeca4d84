package mem

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
)

// Publish implements [store.Store]. One publishes at a time, the others wait; Send must not publish.
func (s *Store) Publish(ctx context.Context, limit int, p store.Publication) (int, error) {
	select {
	case <-s.publishing:
		defer func() { s.publishing <- struct{}{} }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	var waiting []event.Export
	err := s.View(ctx, func(store.Tx) error {
		if s.data.bus == p.Bus {
			waiting = s.data.oldest(limit)
		}
		return nil
	})
	if err != nil || len(waiting) == 0 {
		return 0, err
	}
	if !p.Bodies {
		waiting = bodiless(waiting)
	}
	sent, failed := p.Send(ctx, waiting)
	sent = max(0, min(sent, len(waiting)))
	if sent == 0 {
		return 0, failed
	}
	// What was sent cannot be taken back, so that it is noted however the caller's context ended.
	ctx = context.WithoutCancel(ctx)
	err = s.Update(ctx, func(t store.Tx) error {
		if t.(*tx).data.bus != p.Bus {
			return fmt.Errorf("%w: another bus took over publishing; it publishes what was sent here again", store.ErrLocked)
		}
		noted := outboxRows{t.(*tx)}.publish(waiting[:sent])
		if p.Note == nil {
			return nil
		}
		return p.Note(ctx, t, bodiless(noted))
	})
	if err != nil {
		return 0, errors.Join(failed, err)
	}
	return sent, failed
}

// bodiless empties the bodies of exports.
func bodiless(exports []event.Export) []event.Export {
	for i := range exports {
		exports[i].Body = ""
	}
	return exports
}

// oldest returns up to limit exports that wait: first those of the session that has waited longest.
func (d *data) oldest(limit int) []event.Export {
	waiting := make([]event.Export, 0, len(d.waiting))
	since := make(map[segmentKey]time.Time)
	for key := range d.waiting {
		e := d.exports[key]
		waiting = append(waiting, e)
		owner := segmentKey{e.Tenant, e.Segment}
		if first, seen := since[owner]; !seen || e.At.Before(first) {
			since[owner] = e.At
		}
	}
	slices.SortFunc(waiting, func(a, b event.Export) int {
		one, other := segmentKey{a.Tenant, a.Segment}, segmentKey{b.Tenant, b.Segment}
		return cmp.Or(since[one].Compare(since[other]), compareSegments(one, other), cmp.Compare(a.Last, b.Last), a.At.Compare(b.At), cmp.Compare(a.ID, b.ID))
	})
	return waiting[:max(0, min(limit, len(waiting)))]
}

// publish gives exports the next numbers and returns them with those.
func (r outboxRows) publish(exports []event.Export) []event.Export {
	noted := make([]event.Export, 0, len(exports))
	number, published := r.lastPublished(), r.data.published
	for _, sent := range exports {
		key := rowKey{sent.Tenant, sent.ID}
		e := r.data.exports[key] // its status may have changed since it was sent
		number++
		e.Sent = number
		put(r.tx, r.data.exports, key, e)
		put(r.tx, r.data.sentAt, key, r.now)
		remove(r.tx, r.data.waiting, key)
		published = append(published, key)
		put(r.tx, r.data.publishedOf, key.tenant, append(r.data.publishedOf[key.tenant], key))
		noted = append(noted, e)
	}
	set(r.tx, &r.data.published, published)
	return noted
}
