package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/internal/words"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store"
)

// testItemFilters tries every field of a filter alone and together, on items of which some are indexed and
// some are not, and again when all of them are.
func testItemFilters(t *testing.T, w *world) {
	one, two := w.create(w.key("one")).Segment, w.create(w.key("two")).Segment
	item := func(segment int64, text string, importance int64, edit func(*memory.Row)) memory.Row {
		i := w.remembered(segment, text, importance)
		if edit != nil {
			edit(&i)
		}
		return i
	}
	tagged := func(about string) func(*memory.Row) { return func(i *memory.Row) { i.About = about } }
	indexed := []memory.Row{
		item(one, "plain harbour", 100_000, nil),
		item(one, "Harbours, tagged", 900_000, tagged(`{"tags":["Port City","fruit"]}`)),
		item(two, "two harbour", 500_000, func(i *memory.Row) { i.User, i.Created = "bob", noon.Add(time.Second) }),
		item(one, "gone harbour", 800_000, func(i *memory.Row) { i.Expires = noon }),
		item(one, "attic harbour", 700_000, func(i *memory.Row) { i.Archived, i.Created = noon, noon.Add(time.Minute) }),
	}
	fresh := []memory.Row{
		item(one, "a fact about fruit", 900_000, func(i *memory.Row) { i.Type, i.Created = memory.UserData, noon.Add(time.Hour) }),
		item(two, "two tagged", 0, func(i *memory.Row) { i.User = "bob"; i.About = `{"note":"x","tags":["fruit"]}` }),
		item(one, "brief harbour", 600_000, func(i *memory.Row) { i.Expires = noon.Add(time.Microsecond) }),
		item(two, "gone fruit", 900_000, func(i *memory.Row) { i.Expires = noon.Add(-time.Hour); i.About = `{"tags":["fruit"]}` }),
		item(two, "東京 café", 500_000, tagged(`{"tags":["東京"]}`)),
	}
	stranger := item(one, "strange harbour", 900_000, tagged(`{"tags":["fruit"]}`))
	stranger.Tenant = "other-filters"
	w.remember(indexed...)
	w.remember(stranger)
	w.indexText()
	w.remember(fresh...)

	type filter = memory.Filter
	cases := []struct {
		rule   string
		filter filter
		want   []string
	}{
		{"any", filter{}, []string{"東京 café", "brief harbour", "two tagged", "a fact about fruit", "two harbour", "Harbours, tagged", "plain harbour"}},
		{"archived too", filter{Archived: true, Segment: one}, []string{"brief harbour", "a fact about fruit", "attic harbour", "Harbours, tagged", "plain harbour"}},
		{"segment", filter{Segment: two}, []string{"東京 café", "two tagged", "two harbour"}},
		{"user", filter{User: "bob"}, []string{"two tagged", "two harbour"}},
		{"unknown user", filter{User: "eve"}, nil},
		{"type", filter{Type: memory.UserData}, []string{"a fact about fruit"}},
		{"since, inclusive", filter{Since: noon.Add(time.Second)}, []string{"a fact about fruit", "two harbour"}},
		{"until, exclusive", filter{Until: noon.Add(time.Second), Segment: two}, []string{"東京 café", "two tagged"}},
		{"between", filter{Since: noon.Add(time.Microsecond), Until: noon.Add(time.Hour)}, []string{"two harbour"}},
		{"importance, inclusive", filter{MinImportance: 600_000}, []string{"brief harbour", "a fact about fruit", "Harbours, tagged"}},
		{"one above", filter{MinImportance: 900_001}, nil},
		{"a term", filter{Terms: words.Set("harbour")}, []string{"brief harbour", "two harbour", "Harbours, tagged", "plain harbour"}},
		{"all terms", filter{Terms: words.Set("harbours PLAIN")}, []string{"plain harbour"}},
		{"terms that are in no item together", filter{Terms: words.Set("plain fact")}, nil},
		{"a term is no tag", filter{Terms: words.Set("fruit")}, []string{"a fact about fruit"}},
		{"terms of other scripts", filter{Terms: words.Set("cafe 東京")}, []string{"東京 café"}},
		{"an unknown term", filter{Terms: words.Set("nowhere")}, nil},
		{"a tag is no term", filter{Tags: []string{"fruit"}}, []string{"two tagged", "Harbours, tagged"}},
		{"a tag in other letters", filter{Tags: []string{" PORT city"}}, []string{"Harbours, tagged"}},
		{"all tags", filter{Tags: []string{"fruit", "port city"}}, []string{"Harbours, tagged"}},
		{"half a tag", filter{Tags: []string{"port"}}, nil},
		{"a tag of another script", filter{Tags: []string{"東京"}}, []string{"東京 café"}},
		{"tags and terms", filter{Tags: []string{"fruit"}, Terms: words.Set("two")}, []string{"two tagged"}},
		{"terms of a segment", filter{Segment: one, Terms: words.Set("harbour")}, []string{"brief harbour", "Harbours, tagged", "plain harbour"}},
		{"terms of a user", filter{User: "bob", Terms: words.Set("harbour")}, []string{"two harbour"}},
		{"terms, archived too", filter{Terms: words.Set("harbour"), Archived: true, Segment: one}, []string{"brief harbour", "attic harbour", "Harbours, tagged", "plain harbour"}},
		{"terms by importance", filter{Terms: words.Set("harbour"), ByImportance: true}, []string{"Harbours, tagged", "brief harbour", "two harbour", "plain harbour"}},
		{"terms, lowest", filter{Terms: words.Set("harbour"), Lowest: true}, []string{"plain harbour", "two harbour", "brief harbour", "Harbours, tagged"}},
		{"by importance", filter{ByImportance: true, Segment: one}, []string{"a fact about fruit", "Harbours, tagged", "brief harbour", "plain harbour"}},
		{"lowest", filter{Lowest: true, Segment: two}, []string{"two tagged", "two harbour", "東京 café"}},
		{"lowest of a type", filter{Lowest: true, Type: memory.Event, MinImportance: 1, Segment: one}, []string{"plain harbour", "brief harbour", "Harbours, tagged"}},
		{"everything together", filter{
			Segment: one, User: "ana", Type: memory.Event, Tags: []string{"fruit"}, Terms: words.Set("harbour"), Since: noon,
			Until: noon.Add(time.Hour), MinImportance: 900_000, Archived: true, ByImportance: true,
		}, []string{"Harbours, tagged"}},
	}
	for _, state := range []string{"in part", "in whole"} {
		w.run("indexed "+state, func(t *testing.T) {
			for _, c := range cases {
				c.filter.Tenant, c.filter.Limit, c.filter.Now = w.tenant, 100, noon
				same(t, c.rule, texts(w.items(c.filter)), c.want)
				c.filter.Limit = 1
				same(t, c.rule+", page by page", texts(w.pages(c.filter)), c.want)
			}
		})
		w.indexText()
	}

	w.run("an item ends at its time", func(t *testing.T) {
		f := filter{Tenant: w.tenant, Segment: one, Terms: words.Set("brief"), Limit: 9, Now: noon}
		same(t, "before", len(w.items(f)), 1)
		f.Now = noon.Add(time.Microsecond)
		same(t, "at its time", len(w.items(f)), 0)
		f.Now = noon.Add(-2 * time.Hour)
		f.Terms = words.Set("gone")
		same(t, "what had not ended then", texts(w.items(f)), []string{"gone harbour"})
		all := w.itemsByID(w.tenant, indexed[3].ID)
		same(t, "what has ended is there until it is swept", all, []memory.Row{indexed[3]})
	})

	w.run("live items are neither archived nor expired", func(t *testing.T) {
		live := func(tenant string, segment int64, now time.Time) (n int64) {
			w.view(func(tx store.Tx) (err error) {
				n, err = tx.Memory().LiveItems(w.ctx(), tenant, segment, now)
				return err
			})
			return n
		}
		same(t, "one", live(w.tenant, one, noon), int64(4))
		same(t, "one, a moment later", live(w.tenant, one, noon.Add(time.Microsecond)), int64(3))
		same(t, "two", live(w.tenant, two, noon), int64(3))
		same(t, "other tenant", live("nobody", one, noon), int64(0))
	})

	w.run("what is archived leaves the searches", func(t *testing.T) {
		f := filter{Tenant: w.tenant, Terms: words.Set("plain"), Limit: 9, Now: noon}
		w.update(func(tx store.Tx) error {
			return tx.Memory().ArchiveItems(w.ctx(), w.tenant, []string{indexed[0].ID, fresh[1].ID}, noon)
		})
		same(t, "by term", len(w.items(f)), 0)
		f.Terms, f.Tags = nil, []string{"fruit"}
		same(t, "by tag", texts(w.items(f)), []string{"Harbours, tagged"})
		f.Tags, f.Lowest = nil, true
		got := texts(w.items(f))
		if slices.Contains(got, "plain harbour") || slices.Contains(got, "two tagged") {
			t.Errorf("lowest: %q", got)
		}
		f.Archived = true
		same(t, "archived too", texts(w.items(f))[:2], []string{"two tagged", "plain harbour"})
	})

	w.run("tenants are apart", func(t *testing.T) {
		f := filter{Tenant: stranger.Tenant, Limit: 9, Now: noon}
		for _, f.Terms = range [][]string{nil, words.Set("harbour")} {
			same(t, "theirs", w.items(f), []memory.Row{stranger})
		}
	})
}
