package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/server"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// An export that a newer turnstone wrote is listed with what is known of it, and those behind it follow.
func TestNewerExports(t *testing.T) {
	const newer = "01JH5T8Q3VXK6Z0M4N7P9R2S1W"
	db := newStore(t, t.TempDir(), sqlite.Config{})
	eng := openedOn(t, db, turnstone.Config{})
	c := serve(t, eng, server.Config{})
	publish := func() {
		if err := eng.Publish(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	first := committed(t, eng, "a", "Hello.", "Hello, Ann.")
	publish()
	err := db.Update(t.Context(), func(tx store.Tx) error {
		e, err := tx.Outbox().Export(t.Context(), eng.Tenant(), first.ExportID)
		if err != nil {
			return err
		}
		e.ID, e.Sent, e.Body = newer, 0, strings.Replace(e.Body, `"schema_version":1`, `"schema_version":2,"brand_new":true`, 1)
		return tx.Outbox().InsertExport(t.Context(), e)
	})
	if err != nil {
		t.Fatal(err)
	}
	publish()
	last := committed(t, eng, "a", "And a table.", "Noted.")
	publish()

	type export struct {
		Version    int64  `json:"schema_version"`
		ID         string `json:"export_id"`
		Session    string `json:"session_id"`
		Unreadable string `json:"unreadable"`
	}
	var page struct {
		Items []export `json:"items"`
	}
	c.want(http.StatusOK, &page, "GET", "/exports", nil)
	want := export{2, newer, "a", "schema_version: 2 is not known, this program reads 1; use a newer turnstone"}
	if len(page.Items) != 3 || page.Items[0].ID != first.ExportID || page.Items[1] != want || page.Items[2].ID != last.ExportID || page.Items[2].Unreadable != "" {
		t.Errorf("listed are %+v, want %s, %+v and %s", page.Items, first.ExportID, want, last.ExportID)
	}
}
