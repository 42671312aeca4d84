package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/internal/words"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store"
)

// remembered is a new item of the world's tenant. Its text is what tests know it by.
func (w *world) remembered(segment int64, text string, importance int64) memory.Row {
	return memory.Row{
		Tenant: w.tenant, ID: w.newID(), Segment: segment, Session: "s", User: "ana", Type: memory.Event,
		Importance: importance, Created: noon, Text: text, About: `{}`,
	}
}

// remember returns how many items were added.
func (w *world) remember(items ...memory.Row) (added int) {
	w.Helper()
	w.update(func(tx store.Tx) (err error) {
		added, err = tx.Memory().InsertItems(w.ctx(), items)
		return err
	})
	return added
}

func (w *world) items(f memory.Filter) (items []memory.Row) {
	w.Helper()
	w.view(func(tx store.Tx) (err error) {
		items, err = tx.Memory().Items(w.ctx(), f)
		return err
	})
	return items
}

func (w *world) itemsByID(tenant string, ids ...string) (items []memory.Row) {
	w.Helper()
	w.view(func(tx store.Tx) (err error) {
		items, err = tx.Memory().ItemsByID(w.ctx(), tenant, ids)
		return err
	})
	return items
}

func (w *world) forget(tenant string, ids ...string) (deleted int) {
	w.Helper()
	w.update(func(tx store.Tx) (err error) {
		deleted, err = tx.Memory().DeleteItems(w.ctx(), tenant, ids)
		return err
	})
	return deleted
}

func texts(items []memory.Row) []string {
	var all []string
	for _, i := range items {
		all = append(all, i.Text)
	}
	return all
}

func testItems(t *testing.T, w *world) {
	segment := w.create(w.key("s")).Segment
	full := w.remembered(segment, "the harbour of 東京 opens at \"nine\"", 123456)
	full.Type, full.Expires, full.Archived = memory.ToolResult, noon.Add(time.Hour), noon.Add(time.Minute)
	full.Data, full.About = "{ \"open\" : 9.0 }\n", `{"tags":["Port"],"links":[]}`
	bare := w.remembered(segment, "bare", 1_000_000)

	w.run("items are kept as they were given", func(t *testing.T) {
		same(t, "added", w.remember(full, bare), 2)
		same(t, "by id", w.itemsByID(w.tenant, bare.ID, w.newID(), full.ID, bare.ID), []memory.Row{full, bare})
		w.view(func(tx store.Tx) error {
			got, err := tx.Memory().Item(w.ctx(), w.tenant, full.ID)
			same(t, "item", got, full)
			_, unknown := tx.Memory().Item(w.ctx(), w.tenant, w.newID())
			is(t, "unknown", unknown, memory.ErrNotFound)
			_, elsewhere := tx.Memory().Item(w.ctx(), "other", full.ID)
			is(t, "other tenant", elsewhere, memory.ErrNotFound)
			return err
		})
		same(t, "by no id", w.itemsByID(w.tenant), []memory.Row(nil))
	})

	w.run("an item that is there stays as it is and is not counted", func(t *testing.T) {
		changed := bare
		changed.Text, changed.Importance = "changed", 7
		fresh := w.remembered(segment, "fresh", 5)
		twice := fresh
		twice.Text = "twice"
		same(t, "added", w.remember(changed, fresh, twice), 1)
		same(t, "again", w.remember(changed, fresh, twice), 0)
		same(t, "nothing", w.remember(), 0)
		same(t, "rows", w.itemsByID(w.tenant, bare.ID, fresh.ID), []memory.Row{bare, fresh})
		for _, word := range []string{"changed", "twice"} {
			same(t, word, w.items(memory.Filter{Tenant: w.tenant, Terms: words.Set(word), Limit: 9, Now: noon}), []memory.Row(nil))
		}
	})

	w.run("many at once are all kept, each as it was given", func(t *testing.T) {
		many := make([]memory.Row, 20)
		ids := make([]string, len(many))
		for i := range many {
			many[i] = w.remembered(segment, fmt.Sprintf("of many: %d", i), int64(i))
			ids[i] = many[i].ID
		}
		same(t, "some are there", w.remember(many[3], many[11]), 2)
		same(t, "added", w.remember(many...), len(many)-2)
		same(t, "rows", w.itemsByID(w.tenant, ids...), many)
		same(t, "forgotten", w.forget(w.tenant, ids...), len(many))
	})

	w.run("tenants may use the same ids", func(t *testing.T) {
		theirs := bare
		theirs.Tenant, theirs.Text = "other-items", "theirs"
		same(t, "added", w.remember(theirs), 1)
		same(t, "theirs", w.itemsByID(theirs.Tenant, bare.ID), []memory.Row{theirs})
		same(t, "ours", w.itemsByID(w.tenant, bare.ID), []memory.Row{bare})
		same(t, "forgotten", w.forget(theirs.Tenant, bare.ID), 1)
		same(t, "ours", w.itemsByID(w.tenant, bare.ID), []memory.Row{bare})
	})

	w.run("an update sees its own items, and a failing one leaves none to be found", func(t *testing.T) {
		boom := errors.New("boom")
		search := memory.Filter{Tenant: w.tenant, Terms: words.Set("zeppelin"), Limit: 9, Now: noon}
		lost := w.remembered(segment, "a zeppelin", 5)
		err := w.Update(w.ctx(), func(tx store.Tx) error {
			if _, err := tx.Memory().InsertItems(w.ctx(), []memory.Row{lost}); err != nil {
				return err
			}
			found, err := tx.Memory().Items(w.ctx(), search)
			if err != nil {
				return err
			}
			same(t, "inside", found, []memory.Row{lost})
			return boom
		})
		is(t, "update", err, boom)
		for range 2 {
			same(t, "afterwards", w.items(search), []memory.Row(nil))
			w.indexText()
		}
	})

	w.run("archived once, always", func(t *testing.T) {
		i, j := w.remembered(segment, "attic", 5), w.remembered(segment, "attic too", 5)
		w.remember(i, j)
		archive := func(at time.Time, ids ...string) {
			w.update(func(tx store.Tx) error { return tx.Memory().ArchiveItems(w.ctx(), w.tenant, ids, at) })
		}
		archive(noon, i.ID, w.newID())
		archive(noon.Add(time.Hour), i.ID, j.ID)
		archive(noon)
		i.Archived, j.Archived = noon, noon.Add(time.Hour)
		same(t, "items", w.itemsByID(w.tenant, i.ID, j.ID), []memory.Row{i, j})
	})

	w.run("deleting", func(t *testing.T) { testItemDeletion(t, w) })
	w.run("paging", func(t *testing.T) { testItemPaging(t, w) })
	w.run("any of it agrees with a model", func(t *testing.T) { testItemModel(t, w) })
	w.run("thousands at once", func(t *testing.T) { testManyItems(t, w) })
}

func (w *world) indexText() {
	w.Helper()
	if err := w.IndexText(w.ctx()); err != nil {
		w.Fatalf("index: %v", err)
	}
}

// testItemDeletion deletes indexed and unindexed items and writes others under their ids.
func testItemDeletion(t *testing.T, w *world) {
	segment := w.create(w.key("deletions")).Segment
	indexed, fresh, stays := w.remembered(segment, "velvet gown", 900), w.remembered(segment, "velvet shoe", 900), w.remembered(segment, "velvet glove", 900)
	for _, i := range []*memory.Row{&indexed, &fresh, &stays} {
		i.About = `{"tags":["wardrobe"]}`
	}
	w.remember(indexed, stays)
	w.indexText()
	w.remember(fresh)
	base := memory.Filter{Tenant: w.tenant, Segment: segment, Limit: 9, Now: noon}
	searches := map[string]func(memory.Filter) memory.Filter{
		"by time":       func(f memory.Filter) memory.Filter { return f },
		"by importance": func(f memory.Filter) memory.Filter { f.ByImportance = true; return f },
		"lowest":        func(f memory.Filter) memory.Filter { f.Lowest = true; return f },
		"by term":       func(f memory.Filter) memory.Filter { f.Terms = words.Set("velvet"); return f },
		"by tag":        func(f memory.Filter) memory.Filter { f.Tags = []string{"wardrobe"}; return f },
	}
	for name, search := range searches {
		same(t, name, len(w.items(search(base))), 3)
	}
	same(t, "deleted", w.forget(w.tenant, indexed.ID, fresh.ID, indexed.ID, w.newID()), 2)
	same(t, "deleted again", w.forget(w.tenant, indexed.ID, fresh.ID), 0)
	same(t, "deleted elsewhere", w.forget("other", stays.ID), 0)
	for range 2 {
		for name, search := range searches {
			same(t, name, w.items(search(base)), []memory.Row{stays})
		}
		w.indexText()
	}
	same(t, "by id", w.itemsByID(w.tenant, indexed.ID, fresh.ID), []memory.Row(nil))

	indexed.Text, indexed.About = "linen", `{}`
	same(t, "added", w.remember(indexed), 1)
	for range 2 {
		same(t, "under the old words", w.items(searches["by term"](base)), []memory.Row{stays})
		same(t, "under the old tag", w.items(searches["by tag"](base)), []memory.Row{stays})
		base.Terms = words.Set("linen")
		same(t, "under the new word", w.items(base), []memory.Row{indexed})
		base.Terms = nil
		w.indexText()
	}
}
