package postgres_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/internal/pgtest"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/postgres"
)

// ofVersion makes the schema that a program made which knew so many versions.
func ofVersion(t *testing.T, admin *pgx.Conn, version int) {
	t.Helper()
	files, err := filepath.Glob("migrations/0*.sql")
	if err != nil || len(files) < version {
		t.Fatalf("%v, %v", files, err)
	}
	execute(t, admin, `CREATE TABLE schema_migrations (version bigint PRIMARY KEY, name text NOT NULL, applied_at bigint NOT NULL)`)
	for i, file := range files[:version] {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		execute(t, admin, string(text), simple)
		execute(t, admin, `INSERT INTO schema_migrations VALUES ($1, 'old', 0)`, i+1)
	}
}

// Exports that were sent before it was noted when are swept by when they were made, those that wait by when they are sent.
func TestExportsOfTheTenthVersion(t *testing.T) {
	alone(t)
	address := pgtest.URL(t)
	admin := connect(t, address)
	ofVersion(t, admin, 10)
	execute(t, admin, `
		INSERT INTO exports VALUES ('default', 'a', 's', 1, 't', 1, 2, 'complete', '{}', 0, 1), ('default', 'c', 's', 1, 't', 5, 6, 'complete', '{}', 0, NULL);
		INSERT INTO exports VALUES ('default', 'b', 's', 1, 't', 3, 4, 'complete', '{}', extract(epoch FROM now()) * 1000000, 2)`, simple)
	s := open(t, address, postgres.Config{})
	if sent := exportIDs(round(t, s, 9)); len(sent) != 1 || sent[0] != "c" {
		t.Fatalf("published %q", sent)
	}
	err := s.Update(t.Context(), func(tx store.Tx) error {
		if swept, err := tx.Outbox().SweepExports(t.Context(), tx.Now().Add(-time.Hour), 9); err != nil || swept != 1 {
			t.Errorf("swept %d, %v", swept, err)
		}
		e, err := tx.Outbox().Export(t.Context(), "default", "a")
		if e.Body != "" {
			t.Errorf("the oldest has a body")
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
