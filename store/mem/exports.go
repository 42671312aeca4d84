package mem

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/event"
)

// outboxRows is the transaction as exports, deferrals, events and daemons see it.
type outboxRows struct{ *tx }

// InsertExport implements [event.ExportRows].
func (r outboxRows) InsertExport(ctx context.Context, e event.Export) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	key := rowKey{e.Tenant, e.ID}
	if _, taken := r.data.exports[key]; taken {
		return event.ErrExists
	}
	e.Sent = 0
	put(r.tx, r.data.exports, key, e)
	put(r.tx, r.data.waiting, key, struct{}{})
	opener := turnKey{e.Tenant, e.TurnID}
	put(r.tx, r.data.opened, opener, addID(r.data.opened[opener], e.ID))
	return nil
}

// Export implements [event.ExportRows].
func (r outboxRows) Export(ctx context.Context, tenant, id string) (event.Export, error) {
	if err := r.reading(ctx); err != nil {
		return event.Export{}, err
	}
	e, ok := r.data.exports[rowKey{tenant, id}]
	if !ok {
		return event.Export{}, event.ErrNotFound
	}
	return e, nil
}

// ExportsOf implements [event.ExportRows].
func (r outboxRows) ExportsOf(ctx context.Context, tenant, turnID string) ([]event.Export, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	var found []event.Export
	for _, id := range r.data.opened[turnKey{tenant, turnID}] {
		found = append(found, r.data.exports[rowKey{tenant, id}])
	}
	return found, nil
}

// SetExportStatus implements [event.ExportRows].
func (r outboxRows) SetExportStatus(ctx context.Context, tenant, id, status string) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	key := rowKey{tenant, id}
	e, ok := r.data.exports[key]
	if !ok {
		return event.ErrNotFound
	}
	e.Status = status
	put(r.tx, r.data.exports, key, e)
	return nil
}

// Published implements [event.ExportRows].
func (r outboxRows) Published(ctx context.Context, after int64, limit int) ([]event.Export, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	return r.numbered(r.data.published, after, limit), nil
}

// PublishedOf implements [event.ExportRows].
func (r outboxRows) PublishedOf(ctx context.Context, tenant string, after int64, limit int) ([]event.Export, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	return r.numbered(r.data.publishedOf[tenant], after, limit), nil
}

// numbered returns up to limit of the exports, which are in the order of their numbers, with one greater than after.
func (r outboxRows) numbered(published []rowKey, after int64, limit int) (found []event.Export) {
	from, _ := slices.BinarySearchFunc(published, after+1, func(key rowKey, number int64) int {
		return cmp.Compare(r.data.exports[key].Sent, number)
	})
	for _, key := range published[from:] {
		if len(found) >= limit {
			break
		}
		found = append(found, r.data.exports[key])
	}
	return found
}

// LastPublished implements [event.ExportRows].
func (r outboxRows) LastPublished(ctx context.Context) (int64, error) {
	if err := r.reading(ctx); err != nil {
		return 0, err
	}
	return r.lastPublished(), nil
}

func (r outboxRows) lastPublished() int64 {
	n := len(r.data.published)
	if n == 0 {
		return 0
	}
	return r.data.exports[r.data.published[n-1]].Sent
}

// SweptThrough implements [event.ExportRows].
func (r outboxRows) SweptThrough(ctx context.Context) (int64, error) {
	if err := r.reading(ctx); err != nil {
		return 0, err
	}
	for _, key := range r.data.published {
		if e := r.data.exports[key]; e.Body != "" {
			return e.Sent - 1, nil
		}
	}
	return r.lastPublished(), nil
}

// sent is when an export was sent, or made where that is not known.
func (r outboxRows) sent(key rowKey) time.Time {
	if at, ok := r.data.sentAt[key]; ok {
		return at
	}
	return r.data.exports[key].At
}

// SweepExports implements [event.ExportRows].
func (r outboxRows) SweepExports(ctx context.Context, before time.Time, limit int) (int64, error) {
	if err := r.writing(ctx); err != nil {
		return 0, err
	}
	swept := 0
	for _, key := range r.data.published {
		if swept >= limit {
			break
		}
		if e := r.data.exports[key]; e.Body != "" && r.sent(key).Before(before) {
			e.Body = ""
			put(r.tx, r.data.exports, key, e)
			swept++
		}
	}
	return int64(swept), nil
}
