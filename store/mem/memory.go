package mem

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/memory"
)

// memoryRows is the transaction as memory sees it.
type memoryRows struct{ *tx }

// InsertItems implements [memory.Rows].
func (r memoryRows) InsertItems(ctx context.Context, items []memory.Row) (int, error) {
	if err := r.writing(ctx); err != nil {
		return 0, err
	}
	added := 0
	for _, row := range items {
		key := rowKey{row.Tenant, row.ID}
		if _, taken := r.data.items[key]; taken {
			continue
		}
		row.About = strings.Clone(row.About) // it may be part of a text that those of others are in too
		put(r.tx, r.data.items, key, item{row, memory.RowTerms(row)})
		put(r.tx, r.data.itemIDs, row.Tenant, addID(r.data.itemIDs[row.Tenant], row.ID))
		added++
	}
	return added, nil
}

// Item implements [memory.Rows].
func (r memoryRows) Item(ctx context.Context, tenant, id string) (memory.Row, error) {
	if err := r.reading(ctx); err != nil {
		return memory.Row{}, err
	}
	i, ok := r.data.items[rowKey{tenant, id}]
	if !ok {
		return memory.Row{}, memory.ErrNotFound
	}
	return i.Row, nil
}

// ItemsByID implements [memory.Rows].
func (r memoryRows) ItemsByID(ctx context.Context, tenant string, ids []string) ([]memory.Row, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	var found []memory.Row
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		if i, ok := r.data.items[rowKey{tenant, id}]; ok {
			found = append(found, i.Row)
		}
	}
	return found, nil
}

// Items implements [memory.Rows].
func (r memoryRows) Items(ctx context.Context, f memory.Filter) ([]memory.Row, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	terms := slices.Clone(f.Terms)
	for _, tag := range f.Tags {
		terms = append(terms, memory.TagTerm(tag))
	}
	order := itemOrder(f)
	last := memory.Row{ID: f.After, Importance: f.AfterImportance}
	var found []memory.Row
	for _, id := range r.data.itemIDs[f.Tenant] {
		i := r.data.items[rowKey{f.Tenant, id}]
		if passes(i, f, terms) && (f.After == "" || order(last, i.Row) < 0) {
			found = append(found, i.Row)
		}
	}
	slices.SortFunc(found, order)
	return found[:max(0, min(len(found), f.Limit))], nil
}

// itemOrder is the order in which a filter gives items.
func itemOrder(f memory.Filter) func(a, b memory.Row) int {
	rising := func(a, b memory.Row) int {
		return cmp.Or(cmp.Compare(a.Importance, b.Importance), cmp.Compare(a.ID, b.ID))
	}
	switch {
	case f.Lowest:
		return rising
	case f.ByImportance:
		return func(a, b memory.Row) int { return rising(b, a) }
	default:
		return func(a, b memory.Row) int { return cmp.Compare(b.ID, a.ID) }
	}
}

func passes(i item, f memory.Filter, terms []string) bool {
	return (f.Segment == 0 || i.Segment == f.Segment) &&
		(f.User == "" || i.User == f.User) &&
		(f.Type == "" || i.Type == f.Type) &&
		(f.Since.IsZero() || !i.Created.Before(f.Since)) &&
		(f.Until.IsZero() || i.Created.Before(f.Until)) &&
		i.Importance >= f.MinImportance &&
		(f.Archived || i.Archived.IsZero()) &&
		!expired(i, f.Now) &&
		!slices.ContainsFunc(terms, func(term string) bool {
			_, has := slices.BinarySearch(i.terms, term)
			return !has
		})
}

func expired(i item, now time.Time) bool { return !i.Expires.IsZero() && !i.Expires.After(now) }

// LiveItems implements [memory.Rows].
func (r memoryRows) LiveItems(ctx context.Context, tenant string, segment int64, now time.Time) (int64, error) {
	if err := r.reading(ctx); err != nil {
		return 0, err
	}
	var live int64
	for _, id := range r.data.itemIDs[tenant] {
		if i := r.data.items[rowKey{tenant, id}]; i.Segment == segment && i.Archived.IsZero() && !expired(i, now) {
			live++
		}
	}
	return live, nil
}

// ArchiveItems implements [memory.Rows].
func (r memoryRows) ArchiveItems(ctx context.Context, tenant string, ids []string, at time.Time) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	for _, id := range ids {
		key := rowKey{tenant, id}
		if i, ok := r.data.items[key]; ok && i.Archived.IsZero() {
			i.Archived = at
			put(r.tx, r.data.items, key, i)
		}
	}
	return nil
}

// DeleteItems implements [memory.Rows].
func (r memoryRows) DeleteItems(ctx context.Context, tenant string, ids []string) (int, error) {
	if err := r.writing(ctx); err != nil {
		return 0, err
	}
	unwanted := make(map[string]bool, len(ids))
	for _, id := range ids {
		unwanted[id] = true
	}
	return r.remove(tenant, func(i item) bool { return unwanted[i.ID] }, len(ids)), nil
}

// SweepItems implements [memory.Rows].
func (r memoryRows) SweepItems(ctx context.Context, now time.Time, limit int) (int64, error) {
	if err := r.writing(ctx); err != nil {
		return 0, err
	}
	swept := 0
	for tenant := range r.data.itemIDs {
		swept += r.remove(tenant, func(i item) bool { return expired(i, now) }, limit-swept)
	}
	return int64(swept), nil
}

// remove deletes up to limit items of a tenant and returns how many.
func (r memoryRows) remove(tenant string, unwanted func(item) bool, limit int) int {
	var left []string
	removed := 0
	for _, id := range r.data.itemIDs[tenant] {
		key := rowKey{tenant, id}
		if removed < limit && unwanted(r.data.items[key]) {
			remove(r.tx, r.data.items, key)
			removed++
		} else {
			left = append(left, id)
		}
	}
	if removed > 0 {
		put(r.tx, r.data.itemIDs, tenant, left)
	}
	return removed
}

// Digest implements [memory.Rows].
func (r memoryRows) Digest(ctx context.Context, tenant string, segment int64) (memory.DigestRow, bool, error) {
	if err := r.reading(ctx); err != nil {
		return memory.DigestRow{}, false, err
	}
	d, ok := r.data.digests[segmentKey{tenant, segment}]
	return d, ok, nil
}

// PutDigest implements [memory.Rows].
func (r memoryRows) PutDigest(ctx context.Context, tenant string, segment int64, d memory.DigestRow) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	put(r.tx, r.data.digests, segmentKey{tenant, segment}, d)
	return nil
}
