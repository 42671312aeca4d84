package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store"
)

// modelItem is an item as a model remembers it: with its words, which are its text cut at spaces, and tags.
type modelItem struct {
	memory.Row
	words, tags []string
}

var (
	modelWords = []string{"ant", "bee", "cow", "dog"}
	modelTags  = []string{"red", "blue"}
)

// drawItem makes an item with few values in each column, so that much is equal.
func drawItem(rt *rapid.T, w *world, segments []int64) modelItem {
	pick := func(from []string, label string) []string {
		return rapid.SliceOfNDistinct(rapid.SampledFrom(from), 0, 2, rapid.ID).Draw(rt, label)
	}
	m := modelItem{words: pick(modelWords, "words"), tags: pick(modelTags, "tags")}
	m.Row = w.remembered(rapid.SampledFrom(segments).Draw(rt, "segment"), strings.Join(m.words, " "), int64(rapid.IntRange(0, 2).Draw(rt, "importance")))
	m.User = rapid.SampledFrom([]string{"ana", "bob"}).Draw(rt, "user")
	m.Type = rapid.SampledFrom([]memory.Type{memory.Event, memory.UserData}).Draw(rt, "type")
	m.Created = noon.Add(time.Duration(rapid.IntRange(0, 2).Draw(rt, "created")) * time.Second)
	if rapid.Bool().Draw(rt, "ends") {
		m.Expires = noon.Add(time.Duration(rapid.IntRange(0, 2).Draw(rt, "expires")) * time.Second)
	}
	if len(m.tags) > 0 {
		m.About = `{"tags":["` + strings.Join(m.tags, `","`) + `"]}`
	}
	return m
}

func drawFilter(rt *rapid.T, w *world, segments []int64) memory.Filter {
	f := memory.Filter{Tenant: w.tenant, Limit: rapid.IntRange(1, 4).Draw(rt, "limit")}
	second := func(label string) time.Time {
		return noon.Add(time.Duration(rapid.IntRange(0, 2).Draw(rt, label)) * time.Second)
	}
	maybe := func(label string, set func()) {
		if rapid.IntRange(0, 3).Draw(rt, label) == 0 {
			set()
		}
	}
	f.Now = second("now")
	maybe("by segment", func() { f.Segment = rapid.SampledFrom(segments).Draw(rt, "segment") })
	maybe("by user", func() { f.User = rapid.SampledFrom([]string{"ana", "bob"}).Draw(rt, "user") })
	maybe("by type", func() { f.Type = memory.UserData })
	maybe("by tag", func() { f.Tags = []string{rapid.SampledFrom(modelTags).Draw(rt, "tag")} })
	maybe("by words", func() {
		f.Terms = rapid.SliceOfNDistinct(rapid.SampledFrom(modelWords), 1, 2, rapid.ID).Draw(rt, "words")
	})
	maybe("since", func() { f.Since = second("since") })
	maybe("until", func() { f.Until = second("until") })
	f.MinImportance = int64(max(0, rapid.IntRange(-2, 2).Draw(rt, "importance")))
	f.Archived = rapid.Bool().Draw(rt, "archived")
	switch rapid.IntRange(0, 2).Draw(rt, "order") {
	case 1:
		f.ByImportance = true
	case 2:
		f.Lowest = true
	}
	return f
}

// wanted says what a filter means.
func (m modelItem) wanted(f memory.Filter) bool {
	all := func(of, in []string) bool {
		return !slices.ContainsFunc(of, func(s string) bool { return !slices.Contains(in, s) })
	}
	switch {
	case f.Segment != 0 && m.Segment != f.Segment, f.User != "" && m.User != f.User, f.Type != "" && m.Type != f.Type:
		return false
	case !all(f.Tags, m.tags), !all(f.Terms, m.words):
		return false
	case m.Created.Before(f.Since), !f.Until.IsZero() && !m.Created.Before(f.Until), m.Importance < f.MinImportance:
		return false
	case !f.Archived && !m.Archived.IsZero(), !m.Expires.IsZero() && !m.Expires.After(f.Now):
		return false
	}
	return true
}

// testItemModel does anything to a tenant's items and holds every answer against a plain list.
func testItemModel(t *testing.T, w *world) {
	segments := []int64{w.create(w.key("model-1")).Segment, w.create(w.key("model-2")).Segment}
	tenants := 0
	rapid.Check(t, func(rt *rapid.T) {
		tenants++
		own := w.as(t, fmt.Sprintf("%s-model-%d", w.tenant, tenants))
		var items []modelItem
		someIDs := func(label string) (ids []string) {
			for _, m := range items {
				if rapid.IntRange(0, 2).Draw(rt, label) == 0 {
					ids = append(ids, m.ID)
				}
			}
			return ids
		}
		for range rapid.IntRange(1, 3).Draw(rt, "rounds") {
			var fresh []memory.Row
			for range rapid.IntRange(0, 4).Draw(rt, "fresh") {
				m := drawItem(rt, own, segments)
				items, fresh = append(items, m), append(fresh, m.Row)
			}
			archive, remove := someIDs("archive"), someIDs("delete")
			own.update(func(tx store.Tx) error {
				if _, err := tx.Memory().InsertItems(own.ctx(), fresh); err != nil {
					return err
				}
				if err := tx.Memory().ArchiveItems(own.ctx(), own.tenant, archive, noon); err != nil {
					return err
				}
				_, err := tx.Memory().DeleteItems(own.ctx(), own.tenant, remove)
				return err
			})
			for i := range items {
				if slices.Contains(archive, items[i].ID) {
					items[i].Archived = noon
				}
			}
			items = slices.DeleteFunc(items, func(m modelItem) bool { return slices.Contains(remove, m.ID) })
			if rapid.Bool().Draw(rt, "index") {
				own.indexText()
			}
		}
		for range 4 {
			f := drawFilter(rt, own, segments)
			same(rt, fmt.Sprintf("items of %+v", f), own.pages(f), modelAnswer(items, f))
		}
	})
}

// modelAnswer is all pages of a filter.
func modelAnswer(items []modelItem, f memory.Filter) (rows []memory.Row) {
	for _, m := range items {
		if m.wanted(f) {
			rows = append(rows, m.Row)
		}
	}
	slices.SortFunc(rows, func(a, b memory.Row) int {
		switch {
		case f.Lowest:
			return cmp.Or(cmp.Compare(a.Importance, b.Importance), strings.Compare(a.ID, b.ID))
		case f.ByImportance:
			return cmp.Or(cmp.Compare(b.Importance, a.Importance), strings.Compare(b.ID, a.ID))
		}
		return strings.Compare(b.ID, a.ID)
	})
	return rows
}
