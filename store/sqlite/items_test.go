package sqlite_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

var noon = time.Date(2025, 6, 1, 12, 0, 0, 0, time.UTC)

// changing runs an update of memory that must succeed.
func changing(t testing.TB, s store.Store, fn func(ctx context.Context, rows memory.Rows) error) {
	t.Helper()
	err := s.Update(t.Context(), func(tx store.Tx) error { return fn(t.Context(), tx.Memory()) })
	if err != nil {
		t.Fatal(err)
	}
}

func remember(t testing.TB, s store.Store, items ...memory.Row) {
	t.Helper()
	changing(t, s, func(ctx context.Context, rows memory.Rows) error {
		n, err := rows.InsertItems(ctx, items)
		if n != len(items) {
			t.Errorf("%d of %d were added", n, len(items))
		}
		return err
	})
}

func items(t testing.TB, s store.Store, f memory.Filter) []memory.Row {
	t.Helper()
	var found []memory.Row
	err := s.View(t.Context(), func(tx store.Tx) (err error) {
		found, err = tx.Memory().Items(t.Context(), f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func idsOf(items []memory.Row) []string {
	var ids []string
	for _, m := range items {
		ids = append(ids, m.ID)
	}
	return ids
}

func index(t testing.TB, s store.Store) {
	t.Helper()
	if err := s.IndexText(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// memoryWorld is memory as it should be.
type memoryWorld struct {
	random *rand.Rand
	items  map[string]memory.Row // by tenant and id
	next   int
}

var (
	manyWords = []string{"tokyo", "train", "hotel", "rain", "ticket", "museum"}
	manyTypes = []memory.Type{memory.UserData, memory.ToolResult, memory.Error}
)

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// item is a new one. Most ids rise, some are as old as can be.
func (w *memoryWorld) item() memory.Row {
	w.next++
	id := fmt.Sprintf("%010d", 1000+w.next)
	if w.random.IntN(5) == 0 {
		id = fmt.Sprintf("%010d", w.random.IntN(1000+w.next)) + fmt.Sprint("x", w.next)
	}
	m := memory.Row{
		Tenant: pick(w.random, []string{"a", "b"}), ID: id, Segment: 1 + w.random.Int64N(3), Session: "s",
		User: pick(w.random, []string{"", "Ana", "ana"}), Type: pick(w.random, manyTypes),
		Importance: w.random.Int64N(8) * 142857, Created: noon.Add(time.Duration(w.random.IntN(100)) * time.Hour),
		Text: pick(w.random, manyWords) + " " + pick(w.random, manyWords), About: `{"tags":["` + pick(w.random, manyWords) + `"]}`,
	}
	if w.random.IntN(2) == 0 {
		m.Expires = noon.Add(time.Duration(w.random.IntN(200)) * time.Minute)
	}
	if w.random.IntN(6) == 0 {
		m.Archived = noon
	}
	return m
}

func (w *memoryWorld) some() (tenant string, ids []string) {
	tenant = pick(w.random, []string{"a", "b"})
	for _, m := range w.items {
		if m.Tenant == tenant && w.random.IntN(10) == 0 {
			ids = append(ids, m.ID)
		}
	}
	return tenant, append(ids, "nobody's")
}

// change makes one change in the store and in the world.
func (w *memoryWorld) change(t *testing.T, s *sqlite.Store) {
	t.Helper()
	switch w.random.IntN(8) {
	case 0:
		index(t, s)
	case 1:
		tenant, ids := w.some()
		changing(t, s, func(ctx context.Context, rows memory.Rows) error { return rows.ArchiveItems(ctx, tenant, ids, noon) })
		for _, id := range ids {
			if m, ok := w.items[tenant+id]; ok && m.Archived.IsZero() {
				m.Archived = noon
				w.items[tenant+id] = m
			}
		}
	case 2:
		tenant, ids := w.some()
		changing(t, s, func(ctx context.Context, rows memory.Rows) error {
			n, err := rows.DeleteItems(ctx, tenant, ids)
			if n != len(ids)-1 {
				t.Errorf("%d of %d were deleted", n, len(ids)-1)
			}
			return err
		})
		for _, id := range ids {
			delete(w.items, tenant+id)
		}
	case 3:
		now := noon.Add(time.Duration(w.random.IntN(100)) * time.Minute)
		changing(t, s, func(ctx context.Context, rows memory.Rows) error {
			swept, err := rows.SweepItems(ctx, now, 1000)
			for key, m := range w.items {
				if !m.Expires.IsZero() && !m.Expires.After(now) {
					delete(w.items, key)
					swept--
				}
			}
			if swept != 0 {
				t.Errorf("%d too many were swept", swept)
			}
			return err
		})
	default:
		var added []memory.Row
		for range 1 + w.random.IntN(20) {
			added = append(added, w.item())
			w.items[added[len(added)-1].Tenant+added[len(added)-1].ID] = added[len(added)-1]
		}
		remember(t, s, added...)
	}
}

func (w *memoryWorld) filter() memory.Filter {
	maybe := func(n int) bool { return w.random.IntN(n) == 0 }
	f := memory.Filter{
		Tenant: pick(w.random, []string{"a", "b"}), Limit: 1 + w.random.IntN(12), Now: noon.Add(time.Duration(w.random.IntN(200)) * time.Minute),
		ByImportance: maybe(3), Lowest: maybe(4), Archived: maybe(2),
	}
	if maybe(3) {
		f.Segment = 1 + w.random.Int64N(4)
	}
	if maybe(4) {
		f.User = pick(w.random, []string{"Ana", "ana", "bob"})
	}
	if maybe(4) {
		f.Type = pick(w.random, manyTypes)
	}
	if maybe(3) {
		f.Terms = []string{pick(w.random, []string{"tokyo", "train", "rain"})}
	}
	if maybe(4) {
		f.Tags = []string{pick(w.random, manyWords)}
	}
	if maybe(4) {
		f.Since = noon.Add(time.Duration(w.random.IntN(100)) * time.Hour)
	}
	if maybe(4) {
		f.Until = noon.Add(time.Duration(w.random.IntN(100)) * time.Hour)
	}
	if maybe(4) {
		f.MinImportance = w.random.Int64N(1_000_000)
	}
	if maybe(3) {
		f.After, f.AfterImportance = fmt.Sprintf("%010d", 900+w.random.IntN(w.next+200)), w.random.Int64N(8)*142857
	}
	return f
}

func (w *memoryWorld) selected(f memory.Filter) []string {
	order := func(a, b memory.Row) int {
		switch {
		case f.Lowest:
			return cmp.Or(cmp.Compare(a.Importance, b.Importance), cmp.Compare(a.ID, b.ID))
		case f.ByImportance:
			return cmp.Or(cmp.Compare(b.Importance, a.Importance), cmp.Compare(b.ID, a.ID))
		}
		return cmp.Compare(b.ID, a.ID)
	}
	wanted := slices.Clone(f.Terms)
	for _, tag := range f.Tags {
		wanted = append(wanted, memory.TagTerm(tag))
	}
	var found []memory.Row
	for _, m := range w.items {
		terms := memory.RowTerms(m)
		if m.Tenant == f.Tenant && (f.Segment == 0 || m.Segment == f.Segment) && (f.User == "" || m.User == f.User) &&
			(f.Type == "" || m.Type == f.Type) && !m.Created.Before(f.Since) && (f.Until.IsZero() || m.Created.Before(f.Until)) &&
			m.Importance >= f.MinImportance && (f.Archived || m.Archived.IsZero()) && (m.Expires.IsZero() || m.Expires.After(f.Now)) &&
			(f.After == "" || order(memory.Row{ID: f.After, Importance: f.AfterImportance}, m) < 0) &&
			!slices.ContainsFunc(wanted, func(term string) bool { return !slices.Contains(terms, term) }) {
			found = append(found, m)
		}
	}
	slices.SortFunc(found, order)
	return idsOf(found[:min(len(found), f.Limit)])
}

// Whatever is in the index and whatever is not, every answer is exact.
func TestItemsAreExactHoweverFarTheIndexIs(t *testing.T) {
	alone(t)
	for seed := range uint64(6) {
		s := openNew(t, sqlite.Config{})
		w := &memoryWorld{random: rand.New(rand.NewPCG(seed, 1)), items: make(map[string]memory.Row)}
		for round := range 60 {
			w.change(t, s)
			for range 6 {
				f := w.filter()
				if diff := gocmp.Diff(w.selected(f), idsOf(items(t, s, f))); diff != "" {
					t.Fatalf("seed %d, round %d: %+v:\n%s", seed, round, f, diff)
				}
			}
		}
		if problems, err := s.Check(t.Context()); err != nil || len(problems) > 0 {
			t.Errorf("check: %v, %v", problems, err)
		}
	}
}

func manyItems(n int, of func(i int, m *memory.Row)) []memory.Row {
	list := make([]memory.Row, n)
	for i := range list {
		list[i] = memory.Row{
			Tenant: "a", ID: fmt.Sprintf("%08d", i), Segment: 1, Type: memory.ToolResult, Importance: 500_000, Created: noon,
			Text: "common", About: "{}",
		}
		of(i, &list[i])
	}
	return list
}

// looksAt counts how often the context is looked at for the items.
func looksAt(t testing.TB, s store.Store, f memory.Filter) (looks int64, found int) {
	t.Helper()
	ctx := &countedContext{Context: t.Context()}
	err := s.View(ctx, func(tx store.Tx) error {
		rows, err := tx.Memory().Items(ctx, f)
		found = len(rows)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return ctx.looks.Load(), found
}

// A page of items costs the same among many as among few.
func TestAPageOfItemsIsFoundWithoutLookingAtAll(t *testing.T) {
	alone(t)
	const n = 20_000
	s := openNew(t, sqlite.Config{})
	remember(t, s, manyItems(n, func(i int, m *memory.Row) {
		m.Importance = int64(i%1000) * 1000
		if m.Importance < 300_000 {
			m.Archived = noon
		}
		m.Created = noon.Add(time.Duration(i) * time.Minute)
		m.Segment = int64(1 + i%100)
	})...)
	index(t, s)
	deep := fmt.Sprintf("%08d", n/4)
	for name, f := range map[string]memory.Filter{
		"newest":          {},
		"newest of terms": {Terms: []string{"common"}},
		"cursor":          {Terms: []string{"common"}, After: deep},
		"session":         {Segment: 7},
		"important":       {Terms: []string{"common"}, ByImportance: true, MinImportance: 985_000},
		"of a session":    {Terms: []string{"common"}, Segment: 9, ByImportance: true},
		"least":           {Lowest: true, Segment: 31},
		"recent":          {Since: noon.Add(time.Duration(n-5) * time.Minute), Now: noon.Add(time.Duration(n) * time.Minute)},
	} {
		f.Tenant, f.Limit = "a", 10
		if f.Now.IsZero() {
			f.Now = noon
		}
		if looks, found := looksAt(t, s, f); looks > 80 || found < 5 {
			t.Errorf("%s: %d looks for %d items", name, looks, found)
		}
	}
}

// The highest rowid is given out again after its item is gone; what gets it is indexed all the same.
func TestAnItemInThePlaceOfADeletedOneIsFound(t *testing.T) {
	s := openNew(t, sqlite.Config{})
	all := manyItems(200, func(int, *memory.Row) {})
	remember(t, s, all...)
	index(t, s)
	changing(t, s, func(ctx context.Context, rows memory.Rows) error {
		_, err := rows.DeleteItems(ctx, "a", idsOf(all[100:]))
		return err
	})
	late := manyItems(3, func(i int, m *memory.Row) { m.ID, m.Text = fmt.Sprint("late", i), "afterwards" })
	remember(t, s, late...)
	f := memory.Filter{Tenant: "a", Terms: []string{"afterward"}, Limit: 10, Now: noon}
	for range 2 {
		if diff := gocmp.Diff([]string{"late2", "late1", "late0"}, idsOf(items(t, s, f))); diff != "" {
			t.Error(diff)
		}
		if got := len(items(t, s, memory.Filter{Tenant: "a", Terms: []string{"common"}, Limit: 1000, Now: noon})); got != 100 {
			t.Errorf("%d are left", got)
		}
		index(t, s)
	}
}

func TestTheIndexOfMemoryIsFilledInTheBackground(t *testing.T) {
	s := openNew(t, sqlite.Config{})
	remember(t, s, manyItems(300, func(int, *memory.Row) {})...)
	eventually(t, "indexing", func() bool { return s.ItemMark(t) == 300 })
	if len(items(t, s, memory.Filter{Tenant: "a", Terms: []string{"common"}, Limit: 1000, Now: noon})) != 300 {
		t.Error("not all are found")
	}
}

// What is archived or deleted while a piece is being read is not indexed as it was.
func TestAnItemThatChangesWhileItIsIndexed(t *testing.T) {
	s := openNew(t, sqlite.Config{})
	remember(t, s, manyItems(10, func(int, *memory.Row) {})...)
	late, err := s.IndexItemsSlowly(t.Context(), func() error {
		return s.Update(t.Context(), func(tx store.Tx) error { return tx.Memory().ArchiveItems(t.Context(), "a", []string{"00000003"}, noon) })
	})
	if err != nil || !late {
		t.Fatalf("late %v, %v", late, err)
	}
	index(t, s)
	f := memory.Filter{Tenant: "a", Lowest: true, Limit: 100, Now: noon}
	if got := len(items(t, s, f)); got != 9 {
		t.Errorf("%d are not archived", got)
	}
	changing(t, s, func(ctx context.Context, rows memory.Rows) error {
		_, err := rows.DeleteItems(ctx, "a", []string{"00000003"})
		return err
	})
	if problems, err := s.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("check: %v, %v", problems, err)
	}
}

// What was deleted is not to be found in the file, however one looks.
func TestADeletedItemLeavesNothingBehind(t *testing.T) {
	path := filepath.Join(t.TempDir(), "forget.db")
	s := open(t, path, sqlite.Config{})
	all := manyItems(100, func(int, *memory.Row) {})
	secret := all[0]
	secret.ID, secret.Text, secret.Data = "secret", "Rumpelstilzchen "+strings.Repeat("spins straw ", 5), `{"password":"xyzzyplugh"}`
	remember(t, s, all...)
	remember(t, s, secret)
	index(t, s)
	remember(t, s, manyItems(100, func(i int, m *memory.Row) { m.ID = fmt.Sprint("later", i) })...)
	index(t, s)
	changing(t, s, func(ctx context.Context, rows memory.Rows) error {
		_, err := rows.DeleteItems(ctx, "a", []string{"secret"})
		return err
	})
	index(t, s)
	closed(t, s)
	// A copy has no free pages.
	rawSQL(t, path, `VACUUM INTO '`+path+`-copy'`)
	data, err := os.ReadFile(path + "-copy")
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"umpelstilz", "xyzzyplugh", "straw"} {
		if bytes.Contains(data, []byte(word)) {
			t.Errorf("%s is still there", word)
		}
	}
	if !bytes.Contains(data, []byte("common")) {
		t.Error("the others are gone")
	}
}
