package postgres_test

import (
	"testing"

	"github.com/turnstone-dev/turnstone/internal/pgtest"
	"github.com/turnstone-dev/turnstone/store/postgres"
)

// What was published of a tenant is read from one export to the next, however many of others lie between: the plan may
// differ, but never looks at many pages. Of a tenant that has nearly all, only statistics tell so; they are made soon enough.
func TestPublishedOfATenantIsReadAlongItsIndex(t *testing.T) {
	alone(t)
	address := pgtest.URL(t)
	s := open(t, address, postgres.Config{})
	admin := connect(t, address)
	execute(t, admin, `ALTER TABLE exports SET (autovacuum_enabled = off)`)
	execute(t, admin, `INSERT INTO exports (tenant, export_id, session_id, segment, turn_id, first_seq, last_seq, status, body, created_at, sent_number)
		SELECT CASE n % 2000 WHEN 0 THEN 'rare' ELSE 'busy' END, 'e' || n, 's', 1, 't' || n, 1, 1, 'complete', repeat('b', 200), n, n
		FROM generate_series(1, 20000) n`)
	for _, step := range []string{"without statistics", "with them"} {
		if step == "with them" {
			execute(t, admin, `ANALYZE exports`)
		}
		for _, test := range []struct {
			tenant       string
			after, limit int
			pages        int
		}{
			{"rare", 0, 50, 20},
			{"rare", 19_000, 50, 6},
			{"rare", 0, 2, 6},
			{"busy", 10_000, 50, 12},
			{"nobody", 0, 50, 6},
		} {
			if test.tenant == "busy" && step != "with them" {
				continue
			}
			args := []any{test.tenant, test.after, test.limit}
			if n := pages(t, s, postgres.PublishedOf, args...); n > test.pages {
				t.Errorf("%v %s: %d pages are looked at\n%s", args, step, n, explain(t, s, postgres.PublishedOf, args))
			}
		}
	}
}

// How far bodies were swept is found among those that are left, once statistics tell how few these are.
func TestSweptExportsAreNotGoneThrough(t *testing.T) {
	alone(t)
	address := pgtest.URL(t)
	s := open(t, address, postgres.Config{})
	admin := connect(t, address)
	execute(t, admin, `ALTER TABLE exports SET (autovacuum_enabled = off)`)
	execute(t, admin, `INSERT INTO exports (tenant, export_id, session_id, segment, turn_id, first_seq, last_seq, status, body, created_at, sent_number)
		SELECT 't', 'e' || n, 's', 1, 't' || n, 1, 1, 'complete', CASE WHEN n > 19950 THEN repeat('b', 200) ELSE '' END, n, n
		FROM generate_series(1, 20000) n`)
	execute(t, admin, `ANALYZE exports`)
	if n := pages(t, s, postgres.SweptThrough); n > 20 {
		t.Errorf("%d pages are looked at\n%s", n, explain(t, s, postgres.SweptThrough, nil))
	}
}
