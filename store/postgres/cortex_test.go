package postgres_test

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/internal/pgtest"
	"github.com/turnstone-dev/turnstone/internal/span"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/postgres"
)

// pages returns how many pages of the database a statement looks at.
func pages(t testing.TB, s *postgres.Store, sql string, args ...any) (n int) {
	t.Helper()
	err := s.Connection(t.Context(), func(c *pgx.Conn) error {
		rows, err := c.Query(t.Context(), `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF) `+sql, args...)
		if err != nil {
			return err
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		for _, line := range lines {
			if m := regexp.MustCompile(`Buffers: shared(?: hit=(\d+))?(?: read=(\d+))?`).FindStringSubmatch(line); m != nil {
				hit, noHit := strconv.Atoi("0" + m[1])
				read, noRead := strconv.Atoi("0" + m[2])
				n = hit + read // the first line is the sum of all
				return errors.Join(noHit, noRead)
			}
		}
		return fmt.Errorf("no buffers in %q", lines)
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// What is live is found without a look at what is not, nor at old versions.
func TestLiveIntentionsAreFoundAmongManyDead(t *testing.T) {
	alone(t)
	address := pgtest.URL(t)
	s := open(t, address, postgres.Config{})
	admin := connect(t, address)
	intend := func(ids, versions int) {
		execute(t, admin, `INSERT INTO intentions
			SELECT 'default', 1, 'goal', 'g' || id, version, version, CASE WHEN id % 1000 = 0 OR version < $2 THEN 1 ELSE 0 END, repeat('d', 500), '', 0
			FROM generate_series(1, $1) id, generate_series(1, $2) version`, ids, versions)
		execute(t, admin, `TRUNCATE intention_heads`)
		execute(t, admin, postgres.LoadHeads)
		execute(t, admin, `ANALYZE intentions, intention_heads`)
	}
	intend(4000, 8)
	for _, to := range []int64{8, 1<<63 - 1} {
		if n := pages(t, s, postgres.NewestLive, "default", []int64{1}, []int64{to}); n > 60 {
			t.Errorf("up to seq %d: %d pages were looked at for 4 goals", to, n)
		}
	}
	err := s.View(t.Context(), func(tx store.Tx) error {
		for to, want := range map[int64]int{8: 4, 7: 4000, 1: 4000, 0: 0} {
			rows, err := tx.Cortex().Newest(t.Context(), "default", []span.Span{{Segment: 1, To: to}}, true)
			if err != nil {
				return err
			}
			if len(rows) != want || want > 0 && rows[0].Version != to {
				t.Errorf("%d live after turn %d, want %d", len(rows), to, want)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// intention_heads is made anew by a load as the writes made it.
func TestLoadMakesHeadsAnew(t *testing.T) {
	alone(t)
	from, address := pgtest.URL(t), pgtest.URL(t)
	s := open(t, from, postgres.Config{})
	create(t, s, "goals")
	err := s.Update(t.Context(), func(tx store.Tx) error {
		for version, live := range []bool{true, true, false, true, false} {
			for _, id := range []string{"ended", "taken up again"} {
				if id != "ended" && version == 4 {
					continue
				}
				g := goal(id, int64(version+1))
				g.AfterSeq, g.Live = int64(10*version), live
				if err := tx.Cortex().InsertVersion(t.Context(), "default", 1, g); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := open(t, address, postgres.Config{}).Load(t.Context(), source(dump(t, s, 0), 0)); err != nil {
		t.Fatal(err)
	}
	const heads = `SELECT string_agg(id || ' until ' || until_seq, ', ' ORDER BY id) FROM intention_heads`
	const want = "ended until 40, taken up again until 9223372036854775807"
	for what, url := range map[string]string{"written": from, "loaded": address} {
		if got := ask[string](t, connect(t, url), heads); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
}
