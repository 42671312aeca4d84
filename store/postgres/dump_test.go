package postgres_test

import (
	"errors"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/internal/pgtest/pgstore"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/turn"
)

// dump returns all rows, and is slow about it.
func dump(t testing.TB, s store.Store, pause time.Duration) (rows []store.Row) {
	t.Helper()
	err := s.Dump(t.Context(), func(r store.Row) error {
		if len(rows) == 0 {
			<-time.After(pause)
		}
		rows = append(rows, store.Row{Table: r.Table, Values: slices.Clone(r.Values)})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// source hands out rows, and is slow about it.
func source(rows []store.Row, pause time.Duration) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		for i, r := range rows {
			if i == 1 {
				<-time.After(pause)
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

// After a load new segments come after those that were loaded.
func TestLoadMovesTheSequence(t *testing.T) {
	alone(t)
	from := open(t, pgstore.URL(t), postgres.Config{})
	for _, session := range []string{"a", "b", "c"} {
		mustAppend(t, from, create(t, from, session), said("hello"))
	}
	rows := dump(t, from, 0)
	address := pgstore.URL(t)
	to := open(t, address, postgres.Config{})
	if err := to.Load(t.Context(), source(rows, 0)); err != nil {
		t.Fatal(err)
	}
	k := create(t, to, "d")
	if segment := ask[int64](t, connect(t, address), `SELECT segment FROM sessions WHERE session_id = 'd'`); segment != 4 {
		t.Errorf("the next session has segment %d, want 4", segment)
	}
	mustAppend(t, to, k, said("hello"))
	// What was loaded is indexed without being asked for.
	awaitMark(t, to, turn.Key{Tenant: turn.DefaultTenant, Session: "a"}, 1)
}

// Whoever takes the rows, or brings them, may take longer than a transaction may otherwise rest.
func TestDumpAndLoadWaitForTheOtherEnd(t *testing.T) {
	impatient := func() *postgres.Store {
		url := pgstore.URL(t)
		open(t, url, postgres.Config{}) // makes the tables in peace
		return open(t, with(t, url, parameter("idle_in_transaction_session_timeout", "400")), postgres.Config{})
	}
	from, to := impatient(), impatient()
	mustAppend(t, from, create(t, from, "a"), said("hello"))
	rows := dump(t, from, 800*time.Millisecond)
	if err := to.Load(t.Context(), source(rows, 800*time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if got := dump(t, to, 0); len(got) != len(rows) {
		t.Errorf("%d rows, want %d", len(got), len(rows))
	}
}

// Rows that contradict each other are refused, whatever came before them.
func TestLoadOfDoubleRows(t *testing.T) {
	alone(t)
	from, to := open(t, pgstore.URL(t), postgres.Config{}), open(t, pgstore.URL(t), postgres.Config{})
	mustAppend(t, from, create(t, from, "a"), said("hello"))
	rows := dump(t, from, 0)
	last := slices.IndexFunc(rows, func(r store.Row) bool { return r.Table == "turns" })
	if err := to.Load(t.Context(), source(slices.Insert(slices.Clone(rows), last, rows[last]), 0)); !errors.Is(err, turn.ErrConflict) {
		t.Errorf("got %v, want %v", err, turn.ErrConflict)
	}
	if err := to.Load(t.Context(), source(rows, 0)); err != nil {
		t.Errorf("load after a load that was refused: %v", err)
	}
}
