package postgres_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/turnstone-dev/turnstone/internal/pgtest"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/postgres"
)

// Events from before they had places are given them, in the order of their ids.
func TestEventsOfTheSixthVersion(t *testing.T) {
	alone(t)
	address := pgtest.URL(t)
	admin := connect(t, address)
	execute(t, admin, `CREATE TABLE schema_migrations (version bigint PRIMARY KEY, name text NOT NULL, applied_at bigint NOT NULL)`)
	files, err := filepath.Glob("migrations/000[1-6]_*.sql")
	if err != nil || len(files) != 6 {
		t.Fatalf("%v, %v", files, err)
	}
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		execute(t, admin, string(text), simple)
		execute(t, admin, `INSERT INTO schema_migrations VALUES ($1, 'old', 0)`, i+1)
	}
	execute(t, admin, `INSERT INTO events VALUES ('default', 'b', 's', 'undone', NULL, '{}', 0), ('default', 'a', 's', 'undone', NULL, '{}', 0)`)
	s := open(t, address, postgres.Config{})
	err = s.Update(t.Context(), func(tx store.Tx) error {
		if err := tx.Outbox().PlaceEvents(t.Context(), "default"); err != nil {
			return err
		}
		events, err := tx.Outbox().Events(t.Context(), "default", "s", 0, 9)
		if len(events) != 2 || events[0].ID != "a" || events[0].Place != 1 || events[1].Place != 2 {
			t.Errorf("events %+v", events)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
