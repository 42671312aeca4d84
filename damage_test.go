package turnstone_test

import (
	"database/sql"
	"testing"
)

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
