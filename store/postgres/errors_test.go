package postgres_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/turnstone-dev/turnstone/internal/pgtest/pgstore"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/turn"
)

// What goes wrong in the database arrives as the same error from every store, with PostgreSQL's own
// words in it, and nothing of the update is there.
func TestErrorsOfTheDatabase(t *testing.T) {
	alone(t)
	address := pgstore.URL(t)
	s := open(t, address, postgres.Config{})
	admin := connect(t, address)
	execute(t, admin, `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN RAISE EXCEPTION 'no luck today' USING ERRCODE = TG_ARGV[0]; END $$`)
	k := create(t, s, "unlucky")
	for _, test := range []struct {
		name, code string
		is         error
		fix        string
	}{
		{"disk full", "53100", store.ErrFull, "make room"},
		{"read-only server", "25006", store.ErrReadOnly, "connect to the primary"},
		{"no right to write", "42501", store.ErrReadOnly, "give the database's user the right"},
		{"damaged page", "XX001", store.ErrCorrupt, "restore a backup"},
		{"damaged index", "XX002", store.ErrCorrupt, "REINDEX"},
		{"out of memory", "53200", store.ErrUnavailable, "more memory"},
		{"statement timeout", "57014", store.ErrUnavailable, "statement_timeout"},
		{"disk that cannot be read", "58030", store.ErrUnavailable, "check the database's disk"},
		{"lock timeout", "55P03", store.ErrLocked, "try again"},
	} {
		t.Run(test.name, func(t *testing.T) {
			execute(t, admin, `CREATE TRIGGER refuse BEFORE INSERT ON turns FOR EACH ROW EXECUTE FUNCTION refuse('`+test.code+`')`)
			defer execute(t, admin, `DROP TRIGGER refuse ON turns`)
			_, err := try(t.Context(), s, k, said("hello"))
			var pg *pgconn.PgError
			if !errors.Is(err, test.is) || !errors.As(err, &pg) || pg.Code != test.code {
				t.Errorf("got %v, want %v", err, test.is)
			}
			for _, part := range []string{"append turn 1: ", test.fix, "no luck today"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q is not in: %v", part, err)
				}
			}
			if turns := log(t, s, k); len(turns) != 0 {
				t.Errorf("%d turns were written", len(turns))
			}
		})
	}
}

func TestUserWithoutTheRightToWrite(t *testing.T) {
	alone(t)
	address := pgstore.URL(t)
	s := open(t, address, postgres.Config{})
	k := create(t, s, "seen")
	mustAppend(t, s, k, said("hello"))
	admin := connect(t, address)
	schema := ask[string](t, admin, `SELECT current_schema()::text`)
	reader := schema + "_reader"
	execute(t, admin, `CREATE ROLE `+reader+` LOGIN PASSWORD 'reading'`)
	defer execute(t, admin, `DROP OWNED BY `+reader+`; DROP ROLE `+reader, simple)
	execute(t, admin, `GRANT USAGE ON SCHEMA `+schema+` TO `+reader)
	execute(t, admin, `GRANT SELECT ON ALL TABLES IN SCHEMA `+schema+` TO `+reader)
	r := open(t, with(t, address, func(u *url.URL) { u.User = url.UserPassword(reader, "reading") }), postgres.Config{})
	if turns := log(t, r, k); len(turns) != 1 {
		t.Errorf("%d turns, want 1", len(turns))
	}
	if _, err := try(t.Context(), r, k, said("no")); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("got %v, want %v", err, store.ErrReadOnly)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// A turn's id that is taken is noticed when the turn reaches the database, at the latest with
// COMMIT, and is then said of that turn.
func TestQueuedTurnWithATakenID(t *testing.T) {
	s := open(t, pgstore.URL(t), postgres.Config{})
	k := create(t, s, "twice")
	d := said("hello")
	d.ID = mustAppend(t, s, k, d)[0].ID
	_, err := try(t.Context(), s, k, said("before"), d, said("after"))
	if !errors.Is(err, turn.ErrConflict) || !strings.Contains(err.Error(), "append turn 3: ") {
		t.Errorf("got %v, want %v of turn 3", err, turn.ErrConflict)
	}
	if turns := log(t, s, k); len(turns) != 1 {
		t.Errorf("%d turns, want 1", len(turns))
	}
}

// The administrator's word that a role only reads is kept.
func TestRoleThatOnlyReads(t *testing.T) {
	alone(t)
	address := pgstore.URL(t)
	s := open(t, address, postgres.Config{})
	k := create(t, s, "seen")
	r := open(t, with(t, address, parameter("default_transaction_read_only", "on")), postgres.Config{})
	if _, err := try(t.Context(), r, k, said("no")); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("got %v, want %v", err, store.ErrReadOnly)
	}
}

// A sequence that lags behind, as after a restore by hand, is no reason to say that the name is taken.
func TestSequenceThatLagsBehind(t *testing.T) {
	alone(t)
	address := pgstore.URL(t)
	s := open(t, address, postgres.Config{})
	create(t, s, "first")
	execute(t, connect(t, address), `ALTER TABLE sessions ALTER COLUMN segment RESTART WITH 1`)
	err := s.Update(t.Context(), func(tx store.Tx) error {
		_, err := tx.Log().InsertSession(t.Context(), turn.SessionInfo{Key: turn.Key{Tenant: "default", Session: "second"}, Status: turn.Active})
		return err
	})
	if err == nil || errors.Is(err, turn.ErrExists) {
		t.Errorf("got %v", err)
	}
}

// What no text of the database can hold is bad input, wherever it is asked for; elsewhere it is only not found.
func TestTextsThatAreNone(t *testing.T) {
	s := open(t, pgstore.URL(t), postgres.Config{})
	for _, text := range []string{"a\x00b", "a\xff"} {
		for name, ask := range map[string]func(store.Tx) error{
			"a blob":       func(tx store.Tx) error { _, err := tx.Log().Blob(t.Context(), "default", text); return err },
			"an export":    func(tx store.Tx) error { _, err := tx.Outbox().Export(t.Context(), "default", text); return err },
			"dead letters": func(tx store.Tx) error { _, err := tx.Outbox().Letters(t.Context(), "default", text, 1); return err },
		} {
			var bad *turn.FieldError
			if err := s.View(t.Context(), ask); !errors.As(err, &bad) {
				t.Errorf("%s, %q: %v", name, text, err)
			}
		}
	}
}
