package server_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/server"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// TestACheckpointAloneAndInAList: what both say has one name and one form.
func TestACheckpointAloneAndInAList(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{})
	c.long("s")
	c.want(http.StatusOK, nil, "POST", "/sessions/s/compress", `{"model":"llama3.2","context":8192}`)
	var list struct{ Items []map[string]any }
	c.want(http.StatusOK, &list, "GET", "/sessions/s/checkpoints", nil)
	var one map[string]any
	c.want(http.StatusOK, &one, "GET", "/sessions/s/checkpoints/1", nil)
	if len(list.Items) != 1 {
		t.Fatalf("%+v", list)
	}
	row := list.Items[0]
	for _, name := range []string{"session_id", "id", "compression_number", "version", "level", "range", "original_tokens", "current_tokens", "created_at", "compressed_at"} {
		if d := cmp.Diff(row[name], one[name]); d != "" || one[name] == nil {
			t.Errorf("%s: %v in the list, %v alone", name, row[name], one[name])
		}
	}
	if row["level"] != "detailed" || row["from"] != 1.0 {
		t.Errorf("%v", row)
	}
}

// TestADamagedCheckpoint is the store's, and no fault of who asks for it.
func TestADamagedCheckpoint(t *testing.T) {
	db := newStore(t, t.TempDir(), sqlite.Config{})
	c := serve(t, openedOn(t, db, turnstone.Config{}), server.Config{})
	c.long("s")
	c.want(http.StatusOK, nil, "POST", "/sessions/s/compress", `{"model":"llama3.2","context":8192}`)
	err := db.Update(t.Context(), func(tx store.Tx) error {
		_, err := tx.Forgetting().Rewrite(t.Context(), turn.DefaultTenant, "checkpoints", store.Among{All: true}, func(row []any) (store.Verdict, error) {
			for i, table := range store.Schema {
				if table.Name == "checkpoints" {
					row[store.Schema[i].Position("doc")] = `{"level":"high"}`
				}
			}
			return store.Change, nil
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var problem server.Problem
	c.want(http.StatusInternalServerError, &problem, "GET", "/sessions/s/checkpoints/1", nil)
	if problem.Type != "/api/v1/docs#corrupt" || problem.Field != "" || problem.Detail != "The store is damaged; see the server's log" {
		t.Errorf("%+v", problem)
	}
}
