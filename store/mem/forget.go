package mem

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// forgettingRows is the transaction as forgetting sees it.
type forgettingRows struct{ *tx }

// Forgetting implements [store.Tx].
func (t *tx) Forgetting() store.Forgetting { return forgettingRows{t} }

// Rewrite implements [store.Forgetting]. What is kept is dumped, and what is left of the dump loaded again: this
// happens seldom, and so every structure follows by itself.
func (r forgettingRows) Rewrite(ctx context.Context, tenant, name string, among store.Among, fn func([]any) (store.Verdict, error)) (int, error) {
	if err := r.reading(ctx); err != nil {
		return 0, err
	}
	table, err := store.Rewritable(name, among)
	if err != nil || among.None() {
		return 0, err
	}
	snap, rewritten, left := r.data.state(), 0, cmp.Or(among.Limit, math.MaxInt)
	var rows [][]any
	err = dumpers[name](snap, func(values ...any) error {
		values = slices.Clone(values)
		if left == 0 || !chosen(table, tenant, among, values) {
			rows = append(rows, values)
			return nil
		}
		left--
		verdict, _, err := table.Judge(values, fn)
		if verdict != store.Keep {
			rewritten++
		}
		if verdict != store.Delete {
			rows = append(rows, values)
		}
		return err
	})
	if err != nil || rewritten == 0 {
		return 0, err
	}
	if err := r.writing(ctx); err != nil {
		return 0, err
	}
	fresh, err := reload(ctx, snap, name, rows)
	if err != nil {
		return 0, err
	}
	before := *r.data
	r.undo = append(r.undo, func() { *r.data = before })
	fresh.lastSegment, fresh.places = before.lastSegment, before.places
	*r.data = *fresh
	return rewritten, nil
}

// chosen reports whether a row is one of the given.
func chosen(table *store.Table, tenant string, among store.Among, values []any) bool {
	if values[table.Position("tenant")] != tenant {
		return false
	}
	column, wanted, some := among.Column()
	return !some || slices.Contains(wanted, values[table.Position(column)])
}

// reload makes data of a state, with other rows in one table of it.
func reload(ctx context.Context, snap *state, name string, rows [][]any) (*data, error) {
	l := newLoader()
	for _, table := range store.Schema {
		load := func(values ...any) error {
			if err := l.row(ctx, store.Row{Table: table.Name, Values: values}); err != nil {
				return fmt.Errorf("rewrite a row of %s: %w", table.Name, err)
			}
			l.tx.undo = nil
			return nil
		}
		if table.Name != name {
			if err := dumpers[table.Name](snap, load); err != nil {
				return nil, err
			}
			continue
		}
		for _, values := range rows {
			if err := load(values...); err != nil {
				return nil, err
			}
		}
	}
	l.sort()
	return l.tx.data, nil
}

func newLoader() *loader {
	return &loader{
		tx:    &tx{data: newData(), writable: true},
		heirs: make(map[segmentKey]turn.Key),
		flows: make(map[*segment][]notedFlow),
	}
}

// Scrub implements [store.Store]. What memory held is Go's to give to others, cleared.
func (s *Store) Scrub(ctx context.Context) error {
	return s.View(ctx, func(store.Tx) error { return nil })
}
