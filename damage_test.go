package turnstone_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// TestADamagedCheckpointIsTheStores: nobody gave it as input, whether it can be read or is only not what was stored.
func TestADamagedCheckpointIsTheStores(t *testing.T) {
	for name, statement := range map[string]string{
		"cut off": `UPDATE checkpoints SET doc = '{' WHERE number = 1`,
		"changed": `UPDATE checkpoints SET doc = replace(doc, '"summary":"', '"summary":"Not ') WHERE number = 1`,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log.db")
			st, err := sqlite.Open(t.Context(), path, sqlite.Config{})
			if err != nil {
				t.Fatal(err)
			}
			u := &undoing{T: t, Session: session(t, open(t, st, turnstone.Config{}), "s")}
			u.passes(1, medium)
			damage(t, path, statement)
			list, err := u.CheckpointVersions(t.Context(), 1)
			if !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("%+v, %v", list, err)
			}
			if _, err := u.CheckpointVersions(t.Context(), 9); !errors.Is(err, compress.ErrNotFound) {
				t.Error(err)
			}
			if list, err := u.Checkpoints(t.Context()); len(list) != 0 || err != nil {
				t.Errorf("%+v, %v", list, err)
			}
		})
	}
}

// damage changes rows of a store's file behind its back. An engine that has it open may be writing: damage
// waits for it as any other process would.
func damage(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(60000)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	changed, err := db.ExecContext(t.Context(), statement)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := changed.RowsAffected(); n == 0 || err != nil {
		t.Fatalf("nothing was damaged: %v", err)
	}
}
