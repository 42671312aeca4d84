package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/internal/pgtest"
	"github.com/turnstone-dev/turnstone/internal/pgtest/pgstore"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/postgres"
)

// items are facts, each with the word needle.
func items(n int) []memory.Row {
	now := time.Now()
	rows := make([]memory.Row, n)
	for i := range rows {
		rows[i] = memory.Row{
			Tenant: "default", ID: newIDs.Next(now), Segment: 1, Session: "s", User: "u", Type: memory.UserData,
			Importance: int64(i), Created: now, Text: fmt.Sprintf("needle number %d", i), About: `{}`,
		}
	}
	return rows
}

func remember(t testing.TB, s store.Store, rows ...memory.Row) {
	t.Helper()
	err := s.Update(t.Context(), func(tx store.Tx) error {
		_, err := tx.Memory().InsertItems(t.Context(), rows)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func needles(t testing.TB, tx store.Tx) (int, error) {
	found, err := tx.Memory().Items(t.Context(), memory.Filter{Tenant: "default", Terms: []string{"needl"}, Limit: 10_000, Now: time.Now()})
	return len(found), err
}

// await asks until a statement gives the wanted number.
func await(t testing.TB, c *pgx.Conn, want int, sql string, args ...any) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	over := time.After(2 * time.Minute)
	for got := ask[int](t, c, sql, args...); got != want; got = ask[int](t, c, sql, args...) {
		select {
		case <-tick.C:
		case <-over:
			t.Fatalf("%s: %d, want %d", sql, got, want)
		}
	}
}

const (
	indexedItems   = `SELECT count(*) FROM memory_index WHERE tokens @> ARRAY['needl', 'tenant:default']`
	unindexedItems = `SELECT count(*) FROM memory_unindexed`
)

func TestItemsAreIndexedInTheBackground(t *testing.T) {
	address := pgstore.URL(t)
	s := open(t, address, postgres.Config{})
	admin := connect(t, address)
	const n = 2*postgres.IndexRows + 5
	remember(t, s, items(n)...)
	await(t, admin, n, indexedItems)
	await(t, admin, 0, unindexedItems)
	create(t, s, "loaded")
	other := pgstore.URL(t)
	if err := open(t, other, postgres.Config{}).Load(t.Context(), source(dump(t, s, 0), 0)); err != nil {
		t.Fatal(err)
	}
	await(t, connect(t, other), n, indexedItems)
}

// What a process left behind that was killed is indexed by the next one.
func TestItemsThatOthersLeftAreIndexed(t *testing.T) {
	address := pgstore.URL(t)
	s := open(t, address, postgres.Config{})
	remember(t, s, items(100)...)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	admin := connect(t, address)
	execute(t, admin, `TRUNCATE memory_index, memory_unindexed`)
	execute(t, admin, `INSERT INTO memory_unindexed SELECT tenant, item_id FROM memory_items`)
	s = open(t, address, postgres.Config{})
	if err := s.IndexText(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := ask[int](t, admin, indexedItems); n != 100 {
		t.Errorf("%d items indexed, want 100", n)
	}
}

// While items move from the queue to the index, a search inside an update, whose statements do not see one
// state, misses none and finds none twice.
func TestSearchIsExactWhileItemsAreIndexed(t *testing.T) {
	address := pgstore.URL(t)
	s := open(t, address, postgres.Config{})
	const n = 600
	remember(t, s, items(n)...)
	indexed := make(chan error, 2)
	for range cap(indexed) {
		go func() { indexed <- s.IndexText(t.Context()) }()
	}
	searches := 0
	for running := cap(indexed); running > 0; searches++ {
		select {
		case err := <-indexed:
			if err != nil {
				t.Fatal(err)
			}
			running--
		default:
		}
		err := s.Update(t.Context(), func(tx store.Tx) error {
			found, err := needles(t, tx)
			if err == nil && found != n {
				t.Errorf("search %d: %d items, want %d", searches, found, n)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if left := ask[int](t, connect(t, address), unindexedItems); left != 0 {
		t.Errorf("%d items are left in the queue", left)
	}
}

// An item that somebody is moving to the index is deleted there too.
func TestDeletedItemIsNotIndexed(t *testing.T) {
	address := pgstore.URL(t)
	writer := open(t, address, postgres.Config{})
	admin := connect(t, address)
	row := items(1)[0]
	// The item is put behind the store's back, so that its background leaves it alone.
	execute(t, admin, `INSERT INTO memory_items VALUES ($1, $2, 1, 's', 'u', 'user_data', 0, 0, NULL, NULL, 'needle', NULL, '{}')`, row.Tenant, row.ID)
	indexer, err := connect(t, address).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	execute(t, admin, `INSERT INTO memory_unindexed VALUES ($1, $2)`, row.Tenant, row.ID)
	for _, sql := range []string{
		`DELETE FROM memory_unindexed WHERE tenant = $1 AND item_id = $2`,
		`INSERT INTO memory_index VALUES ($1, $2, 1, 'u', 'user_data', 0, 0, NULL, ARRAY['needl'])`,
	} {
		if _, err := indexer.Exec(t.Context(), sql, row.Tenant, row.ID); err != nil {
			t.Fatal(err)
		}
	}
	deleted := make(chan error, 1)
	go func() {
		deleted <- writer.Update(t.Context(), func(tx store.Tx) error {
			n, err := tx.Memory().DeleteItems(t.Context(), row.Tenant, []string{row.ID, "unknown"})
			if err == nil && n != 1 {
				t.Errorf("%d items deleted, want 1", n)
			}
			return err
		})
	}()
	await(t, admin, 1, `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'DELETE FROM memory_unindexed%'`)
	if err := indexer.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-deleted; err != nil {
		t.Fatal(err)
	}
	if n := ask[int](t, admin, `SELECT count(*) FROM memory_index`); n != 0 {
		t.Errorf("%d items in the index, want none", n)
	}
}

// Every way to look for items leads along an index to the first page of them.
func TestItemsAreFoundAlongIndexes(t *testing.T) {
	alone(t)
	address := pgtest.URL(t)
	s := open(t, address, postgres.Config{})
	admin := connect(t, address)
	execute(t, admin, `INSERT INTO memory_items SELECT 'default', 'i' || lpad(n::text, 8, '0'), n % 20, 's', 'u' || n % 10, 'user_data', (n * 7919) % 1000000,
		n, NULL, NULL, repeat('x', 100), NULL, '{}' FROM generate_series(1, 40000) n`)
	execute(t, admin, `INSERT INTO memory_index SELECT tenant, item_id, segment, user_id, type, importance, created_at, expires_at,
		ARRAY['common', 'n' || item_id, 'segment:' || segment, 'user:default:' || user_id, 'tenant:default'] FROM memory_items`)
	execute(t, admin, `ANALYZE memory_items, memory_index`)
	for _, test := range []struct {
		name   string
		filter memory.Filter
	}{
		{"newest", memory.Filter{}},
		{"newest of a session", memory.Filter{Segment: 3}},
		{"newest of a user", memory.Filter{User: "u3"}},
		{"most important", memory.Filter{ByImportance: true}},
		{"most important of a session", memory.Filter{Segment: 3, ByImportance: true}},
		{"most important of a user", memory.Filter{User: "u3", ByImportance: true}},
		{"least important of a session, second page", memory.Filter{Segment: 3, Lowest: true, After: "i00000003", AfterImportance: 50_000}},
		{"rare word", memory.Filter{Terms: []string{"ni00000777"}}},
		{"rare word of a session", memory.Filter{Segment: 17, Terms: []string{"ni00000777"}}},
		{"rare word of a user", memory.Filter{User: "u7", Terms: []string{"ni00000777"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := test.filter
			f.Tenant, f.Limit, f.Now = "default", 20, time.Now()
			sql, args := postgres.ItemsSQL(f)
			if n := pages(t, s, sql, args...); n > 150 {
				t.Errorf("%d pages were looked at", n)
			}
			var found []memory.Row
			err := s.View(t.Context(), func(tx store.Tx) (err error) {
				found, err = tx.Memory().Items(t.Context(), f)
				return err
			})
			if want := 20 - 19*len(f.Terms); err != nil || len(found) != want {
				t.Errorf("%d items, %v; want %d", len(found), err, want)
			}
		})
	}
}

// The count that is kept agrees with the items, whatever happened to them, and so does a loaded one.
func TestLiveItemsAreCounted(t *testing.T) {
	alone(t)
	address := pgstore.URL(t)
	s := open(t, address, postgres.Config{})
	create(t, s, "counted")
	rows := items(12)
	now := time.Now().UTC().Truncate(time.Microsecond)
	for i := range rows {
		rows[i].Segment = int64(i%2 + 1)
		if i < 4 {
			rows[i].Expires = now.Add(time.Duration(i-1) * time.Hour) // an hour ago, now, soon, later
		}
	}
	rows[11].Archived = now
	ids := func(which ...int) (list []string) {
		for _, i := range which {
			list = append(list, rows[i].ID)
		}
		return list
	}
	check := func(what string, s store.Store, want ...int64) {
		t.Helper()
		err := s.View(t.Context(), func(tx store.Tx) error {
			for i, want := range want {
				got, err := tx.Memory().LiveItems(t.Context(), "default", int64(i+1), now)
				if err != nil {
					return err
				}
				if got != want {
					t.Errorf("%s: %d live items in segment %d, want %d", what, got, i+1, want)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		what string
		do   func(memory.Rows) error
		want []int64
	}{
		{"inserted", func(m memory.Rows) error { _, err := m.InsertItems(t.Context(), rows); return err }, []int64{5, 4, 0}},
		{"inserted again", func(m memory.Rows) error { _, err := m.InsertItems(t.Context(), rows); return err }, []int64{5, 4, 0}},
		{"archived", func(m memory.Rows) error { return m.ArchiveItems(t.Context(), "default", ids(4, 5, 6, 6, 11), now) }, []int64{3, 3, 0}},
		{"deleted", func(m memory.Rows) error {
			_, err := m.DeleteItems(t.Context(), "default", ids(4, 8, 9, 11))
			return err
		}, []int64{2, 2, 0}},
		{"swept", func(m memory.Rows) error { _, err := m.SweepItems(t.Context(), now, 10); return err }, []int64{2, 2, 0}},
	} {
		if err := s.Update(t.Context(), func(tx store.Tx) error { return step.do(tx.Memory()) }); err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
		check(step.what, s, step.want...)
	}
	const counts = `SELECT string_agg(segment || ':' || items, ' ' ORDER BY segment) FROM memory_counts`
	if got := ask[string](t, connect(t, address), counts); got != "1:2 2:2" {
		t.Errorf("counted %s, want 1:2 2:2", got)
	}
	loaded := pgstore.URL(t)
	other := open(t, loaded, postgres.Config{})
	if err := other.Load(t.Context(), source(dump(t, s, 0), 0)); err != nil {
		t.Fatal(err)
	}
	check("loaded", other, 2, 2, 0)
}
