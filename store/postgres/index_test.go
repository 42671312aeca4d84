package postgres_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/internal/pgtest"
	"github.com/turnstone-dev/turnstone/internal/pgtest/pgstore"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/turn"
)

// mark returns how far the index of a session's own segment reaches.
func mark(t testing.TB, s store.Store, k turn.Key) (seq int64) {
	t.Helper()
	err := s.View(t.Context(), func(tx store.Tx) error {
		info, err := tx.Log().Session(t.Context(), k)
		if err != nil {
			return err
		}
		seq, err = tx.Log().TextMark(t.Context(), k.Tenant, info.Segment)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return seq
}

// awaitMark asks until the index reaches seq.
func awaitMark(t testing.TB, s store.Store, k turn.Key, seq int64) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	over := time.After(2 * time.Minute)
	for mark(t, s, k) < seq {
		select {
		case <-tick.C:
		case <-over:
			t.Fatalf("the index reaches turn %d, not %d", mark(t, s, k), seq)
		}
	}
}

// many are turns of which every tenth has the word needle in it.
func many(n int) []turn.Draft {
	drafts := make([]turn.Draft, n)
	for i := range drafts {
		drafts[i] = said(fmt.Sprintf("hay number %d", i+1))
		if (i+1)%10 == 0 {
			drafts[i] = said(fmt.Sprintf("needle number %d", i+1))
		}
	}
	return drafts
}

func TestIndexIsFilledInTheBackground(t *testing.T) {
	address := pgstore.URL(t)
	s := open(t, address, postgres.Config{})
	k, other := create(t, s, "indexed"), create(t, s, "other")
	const n = 3*postgres.IndexRows + 6
	mustAppend(t, s, k, many(n)...)
	mustAppend(t, s, other, many(n)...)
	awaitMark(t, s, k, n)
	awaitMark(t, s, other, n)
	mustAppend(t, s, k, said("the last needle"))
	if found := query(t, s, k, turn.Query{Text: "needles"}); len(found) != n/10+1 {
		t.Errorf("%d turns found, want %d", len(found), n/10+1)
	}
	if rows := ask[int64](t, connect(t, address), `SELECT count(*) FROM turn_text WHERE tokens @> ARRAY['needl']`); rows < 2*(n/10) {
		t.Errorf("%d turns with the term in the index, want %d", rows, 2*(n/10))
	}
}

// A process that was killed leaves a tail behind. The next one that stays finds it.
func TestIndexCatchesUpWithWhatOthersLeft(t *testing.T) {
	address := pgstore.URL(t)
	s := open(t, address, postgres.Config{})
	k := create(t, s, "left")
	mustAppend(t, s, k, many(100)...)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	admin := connect(t, address)
	execute(t, admin, `TRUNCATE text_marks, turn_text`)
	s = open(t, address, postgres.Config{})
	awaitMark(t, s, k, 100)
	if found := query(t, s, k, turn.Query{Text: "needle"}); len(found) != 10 {
		t.Errorf("%d turns found, want 10", len(found))
	}
}

// A process that runs for a moment indexes what it wrote before it ends, each time.
func TestCloseIndexesASmallRest(t *testing.T) {
	address := pgstore.URL(t)
	admin := connect(t, address)
	const turns = 30
	for i := range 5 {
		s := open(t, address, postgres.Config{})
		s.GiveClose(time.Minute)
		k := create(t, s, fmt.Sprintf("short-%d", i))
		mustAppend(t, s, k, many(turns)...)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if got := ask[int](t, admin, `SELECT count(*) FROM turn_text`); got != (i+1)*turns {
			t.Fatalf("after %d visits %d turns are indexed, want %d", i+1, got, (i+1)*turns)
		}
	}
}

// Whoever has a segment's mark indexes it; the background of others passes it over, and does not
// forget it.
func TestIndexPassesOverWhatAnotherProcessHas(t *testing.T) {
	address := pgstore.URL(t)
	s := open(t, address, postgres.Config{LockTimeout: time.Minute})
	held := create(t, s, "held")
	free := make([]turn.Key, 8)
	for i := range free {
		free[i] = create(t, s, fmt.Sprintf("free-%d", i))
	}
	mustAppend(t, s, held, said("first"))
	awaitMark(t, s, held, 1)
	holder, err := connect(t, address).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := holder.Exec(t.Context(), `SELECT FROM text_marks FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, held, said("needle"))
	for _, k := range free {
		mustAppend(t, s, k, said("needle"))
	}
	for _, k := range free {
		awaitMark(t, s, k, 1)
	}
	if got := mark(t, s, held); got != 1 {
		t.Errorf("the index of the held segment reaches %d, want 1", got)
	}
	if found := query(t, s, held, turn.Query{Text: "needle"}); len(found) != 1 {
		t.Errorf("%d turns found, want 1", len(found))
	}
	if err := holder.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	awaitMark(t, s, held, 2)
}

// A tsvector would end at 1 MB.
func TestLargestTurnIsFoundByItsLastWord(t *testing.T) {
	alone(t)
	s := open(t, pgstore.URL(t), postgres.Config{})
	k := create(t, s, "large")
	var text strings.Builder
	for i := 0; text.Len() < 4<<20-100; i++ {
		fmt.Fprintf(&text, "w%dq%s ", i, strings.Repeat("x", 50))
	}
	mustAppend(t, s, k, said(text.String()+"needle"), said("hay"))
	if err := s.IndexText(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := mark(t, s, k); got != 2 {
		t.Fatalf("the index reaches %d, want 2", got)
	}
	found := query(t, s, k, turn.Query{Text: "needles w7q" + strings.Repeat("x", 50)})
	if len(found) != 1 || found[0].Seq != 1 {
		t.Errorf("%d turns found", len(found))
	}
}

// A search inside one session looks up the session in the index too.
func TestSearchUsesTheIndex(t *testing.T) {
	alone(t)
	address := pgtest.URL(t)
	s := open(t, address, postgres.Config{})
	k := create(t, s, "searched")
	mustAppend(t, s, k, said("needle"))
	admin := connect(t, address)
	segment := ask[int64](t, admin, `SELECT segment FROM sessions`)
	fillSession(t, admin, segment, 2, 10_000)
	// The store may have begun to index them.
	execute(t, admin, `INSERT INTO turn_text SELECT tenant, segment, seq, ARRAY['hay', 'common', 'n' || seq, $2] FROM turns WHERE segment = $1 AND seq > 1
		ON CONFLICT DO NOTHING`, segment, postgres.ScopeToken(segment))
	execute(t, admin, `ANALYZE`)
	args := append(postgres.ScanArgs(k.Tenant, turn.Span{Segment: segment, From: 1, To: 5_000}, turn.RowFilter{}, 257),
		[]string{postgres.ScopeToken(segment), "n77"})
	plan := explain(t, s, postgres.TextSQL, args)
	if !strings.Contains(plan, "turn_text_tokens") || strings.Contains(plan, "Seq Scan") {
		t.Errorf("a search for a rare word does not use the index:\n%s", plan)
	}
}

// fillSession writes turns of a user from one seq to another, behind the store's back.
func fillSession(t testing.TB, c *pgx.Conn, segment int64, from, to int) {
	t.Helper()
	execute(t, c, `INSERT INTO turns (tenant, segment, seq, turn_id, role, form, content, created_at)
		SELECT 'default', $1, n, 'id-' || $1::bigint || '-' || n, CASE n % 3 WHEN 0 THEN 'system' ELSE 'user' END, 'text', '{"text":"hello"}', n
		FROM generate_series($2::bigint, $3::bigint) n`, segment, from, to)
	execute(t, c, `UPDATE sessions SET head_seq = $2 WHERE segment = $1`, segment, to)
}

func explain(t testing.TB, s *postgres.Store, sql string, args []any) (plan string) {
	t.Helper()
	err := s.Connection(t.Context(), func(c *pgx.Conn) error {
		rows, err := c.Query(t.Context(), `EXPLAIN `+sql, args...)
		if err != nil {
			return err
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		plan = strings.Join(lines, "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// The last turns of a long session are read backwards along an index, with and without statistics.
func TestHistoryReadsBackwardsAlongAnIndex(t *testing.T) {
	alone(t)
	address := pgtest.URL(t)
	s := open(t, address, postgres.Config{})
	create(t, s, "long")
	create(t, s, "longer")
	admin := connect(t, address)
	execute(t, admin, `ALTER TABLE turns SET (autovacuum_enabled = off)`)
	fillSession(t, admin, 1, 1, 5_000)
	fillSession(t, admin, 2, 1, 30_000)
	for _, step := range []string{`SELECT`, `ANALYZE turns`} {
		execute(t, admin, step)
		for _, test := range []struct {
			name   string
			filter turn.RowFilter
			index  string
		}{
			{"utterances", turn.RowFilter{Utterances: true, Newest: true}, "turns_utterances"},
			{"all turns", turn.RowFilter{Newest: true}, "turns_"},
			{"page of a query", turn.RowFilter{Role: turn.User}, "turns_"},
		} {
			args := postgres.ScanArgs("default", turn.Span{Segment: 2, From: 1, To: 30_000}, test.filter, 50)
			plan := explain(t, s, postgres.ScanSQL(test.filter), args)
			if strings.Contains(plan, "Sort") || strings.Contains(plan, "Seq Scan") || strings.Contains(plan, "Bitmap") ||
				!strings.Contains(plan, "using "+test.index) {
				t.Errorf("%s after %s:\n%s", test.name, step, plan)
			}
		}
	}
}
