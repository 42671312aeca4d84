package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store"
)

// testItemPaging reads pages of every size in every order and holds them against the whole.
func testItemPaging(t *testing.T, w *world) {
	segment := w.create(w.key("pages")).Segment
	var all []memory.Row
	for n := range 11 {
		i := w.remembered(segment, fmt.Sprintf("page %d", n), int64(n*7%4)*250_000)
		i.Created = noon.Add(-time.Duration(n) * time.Hour) // the id says what is newer
		if n%3 == 0 {
			i.About = `{"tags":["third"]}`
		}
		all = append(all, i)
	}
	w.remember(all[:6]...)
	w.indexText()
	w.remember(all[6:]...)
	byImportance := func(a, b memory.Row) int { return int(a.Importance - b.Importance) }
	rising := slices.SortedStableFunc(slices.Values(all), byImportance)
	for _, order := range []struct {
		name                 string
		byImportance, lowest bool
		want                 []memory.Row
	}{
		{"newest", false, false, reversed(all)},
		{"by importance", true, false, reversed(rising)},
		{"lowest", false, true, rising},
	} {
		for _, only := range []string{"", "third"} {
			want := order.want
			f := memory.Filter{Tenant: w.tenant, Segment: segment, ByImportance: order.byImportance, Lowest: order.lowest, Now: noon}
			if only != "" {
				f.Tags = []string{only}
				want = slices.DeleteFunc(slices.Clone(want), func(i memory.Row) bool { return i.About == `{}` })
			}
			for _, f.Limit = range []int{1, 2, 3, len(want), 100} {
				same(t, fmt.Sprintf("%s %s, %d a page", order.name, only, f.Limit), w.pages(f), want)
			}
			f.Limit = 0
			same(t, "no limit, no items", w.items(f), []memory.Row(nil))
		}
	}
}

// pages reads page after page. It fails the test where they do not end.
func (w *world) pages(f memory.Filter) (all []memory.Row) {
	w.Helper()
	for range 100 {
		page := w.items(f)
		if len(page) == 0 {
			return all
		}
		if len(page) > f.Limit {
			w.Fatalf("%d items on a page of %d", len(page), f.Limit)
		}
		all = append(all, page...)
		f.After, f.AfterImportance = page[len(page)-1].ID, page[len(page)-1].Importance
	}
	w.Fatal("pages without end")
	return nil
}

func reversed[V any](list []V) []V {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}

// testManyItems has more values than the databases take in one statement.
func testManyItems(t *testing.T, w *world) {
	segment := w.create(w.key("many")).Segment
	many, ids := make([]memory.Row, 5100), make([]string, 5100)
	for n := range many {
		many[n] = w.remembered(segment, "crowd", int64(n))
		ids[n] = many[n].ID
	}
	same(t, "added", w.remember(many...), len(many))
	same(t, "added again", w.remember(many...), 0)
	if got := w.itemsByID(w.tenant, ids...); len(got) != len(many) || got[0].ID != ids[0] || got[len(got)-1].ID != ids[len(ids)-1] {
		t.Errorf("%d items by id", len(got))
	}
	w.update(func(tx store.Tx) error { return tx.Memory().ArchiveItems(w.ctx(), w.tenant, ids, noon) })
	f := memory.Filter{Tenant: w.tenant, Segment: segment, Archived: true, Lowest: true, Limit: 10_000, Now: noon}
	same(t, "archived", len(w.items(f)), len(many))
	f.Archived = false
	same(t, "live", len(w.items(f)), 0)
	same(t, "deleted", w.forget(w.tenant, ids...), len(many))
}
