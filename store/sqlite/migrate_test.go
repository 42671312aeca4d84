package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// A file of the first version is brought to the newest one, and keeps what is in it.
func TestAFileOfTheFirstVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "old.db")
	first, err := os.ReadFile("migrations/0001_log.sql")
	if err != nil {
		t.Fatal(err)
	}
	rawSQL(t, path, string(first)+`
		CREATE TABLE schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL);
		INSERT INTO schema_migrations VALUES (1, 'first', 0);
		INSERT INTO sessions VALUES (1, 'default', 's', '', '', '', '', 'active', NULL, 0, 1, 0, 0);
		INSERT INTO turns (tenant, segment, seq, turn_id, role, form, created_at, content)
			VALUES ('default', 1, 1, '01J00000000000000000000000', 'user', 'text', 0, '{"text":"from before"}');`)
	s := open(t, path, sqlite.Config{})
	if diff := cmp.Diff([]string{"from before"}, texts(log(t, s, key("s")))); diff != "" {
		t.Error(diff)
	}
	info := create(t, s, key("s"))
	if err := commitExchange(t.Context(), s, info, newExchanges(info, 1).next(t)); err != nil {
		t.Error(err)
	}
	if n := len(log(t, s, key("s"))); n != 4 {
		t.Errorf("%d turns", n)
	}
}
