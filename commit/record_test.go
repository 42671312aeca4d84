package commit_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// row is the outbox row of the sample, whatever its body says.
func row(body string) event.Export {
	e := sample()
	return event.Export{Tenant: e.Tenant, Session: e.Session, ID: e.ExportID, TurnID: e.TurnID, Status: string(e.Status), At: e.Timestamp, Body: body}
}

// Bodies that were written before anything was left out of them wait in stores.
func TestBodiesWithAllFieldsAreReadAsTheyWere(t *testing.T) {
	golden, err := os.ReadFile(filepath.Join("testdata", "state-export-1.json"))
	if err != nil {
		t.Fatal(err)
	}
	// What is inline is not looked for anywhere else.
	in := row(`{"inline":["history","memory"],"export":` + string(golden) + `}`)
	got, err := commit.Whole(t.Context(), nil, in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sample(), got); diff != "" {
		t.Errorf("it is read otherwise (-want +got):\n%s", diff)
	}
	in.Tenant, in.Session = "other", "copy"
	if got, err = commit.Whole(t.Context(), nil, in); err != nil || got.Tenant != "other" || got.Session != "copy" {
		t.Errorf("in another row it is of %s/%s, %v", got.Tenant, got.Session, err)
	}
}

func TestBodiesHaveNothingThatIsEmptyOrInTheirRow(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	res := w.commit(talk("hello", "hi"))
	var stored event.Export
	w.view(func(tx store.Tx, _ turn.SessionInfo) (err error) {
		stored, err = tx.Outbox().Export(t.Context(), key.Tenant, res.ExportID)
		return err
	})
	var body struct{ Export map[string]json.RawMessage }
	if err := json.Unmarshal([]byte(stored.Body), &body); err != nil {
		t.Fatal(err)
	}
	if len(body.Export) == 0 {
		t.Fatalf("there is no export in %s", stored.Body)
	}
	for name, value := range body.Export {
		if slices.Contains([]string{"export_id", "turn_id", "tenant", "session_id", "status", "timestamp"}, name) || slices.Contains([]string{`""`, `[]`, `{}`}, string(value)) {
			t.Errorf("the body has %s: %s", name, value)
		}
	}
}
