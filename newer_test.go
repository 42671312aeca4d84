package turnstone_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
)

const newerID = "01JH5T8Q3VXK6Z0M4N7P9R2S1W"

// putNewer puts an export beside one that is there, as a program would that writes version 2.
func putNewer(t *testing.T, st store.Store, tenant, beside string) {
	t.Helper()
	err := st.Update(t.Context(), func(tx store.Tx) error {
		e, err := tx.Outbox().Export(t.Context(), tenant, beside)
		if err != nil {
			return err
		}
		e.ID, e.Sent = newerID, 0
		// The newer program may have changed what stands beside the export, too.
		e.Body = strings.Replace(e.Body, `"schema_version":1`, `"schema_version":2,"brand_new":true`, 1)
		e.Body = `{"brand_new":true,` + e.Body[1:]
		return tx.Outbox().InsertExport(t.Context(), e)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// publishNewer publishes an export, then one of a newer program, and then another one of this.
func publishNewer(t *testing.T, st store.Store, eng *turnstone.Engine) (first, last commit.Result) {
	t.Helper()
	publish := func() {
		if err := eng.Publish(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	first = commitText(t, session(t, eng, "a"), "one")
	publish()
	putNewer(t, st, eng.Tenant(), first.ExportID)
	publish()
	last = commitText(t, session(t, eng, "a"), "three")
	publish()
	return first, last
}

// untold is what is told of an export that a newer program wrote.
type untold struct {
	Version    int64     `json:"schema_version"`
	ID         string    `json:"export_id"`
	TurnID     string    `json:"turn_id"`
	At         time.Time `json:"timestamp"`
	Tenant     string    `json:"tenant"`
	Session    string    `json:"session_id"`
	Unreadable string    `json:"unreadable"`
}

// Who looks on is told of an export that only a newer program can read, and sees those behind it.
func TestPublishedGoesOnBehindANewerExport(t *testing.T) {
	onEveryStore(t, func(t *testing.T, st store.Store) {
		eng := open(t, st, turnstone.Config{})
		first, last := publishNewer(t, st, eng)
		all, _, err := eng.Published(t.Context(), 0, 10)
		if err != nil {
			t.Fatal("all tenants'", err)
		}
		own, through, err := eng.PublishedAfter(t.Context(), "", 10)
		if err != nil || through != last.ExportID {
			t.Fatalf("the tenant's up to %s: %v", through, err)
		}
		for name, messages := range map[string][]event.Message{"all tenants'": all, "the tenant's": own} {
			if len(messages) != 3 || messages[0].ID != first.ExportID || messages[1].ID != newerID || messages[2].ID != last.ExportID {
				t.Fatalf("%s are %v, want %s, %s and %s", name, messages, first.ExportID, newerID, last.ExportID)
			}
			var got untold
			if err := json.Unmarshal(messages[1].Body, &got); err != nil {
				t.Fatalf("%s: %s: %v", name, messages[1].Body, err)
			}
			want := untold{
				Version: 2, ID: newerID, TurnID: first.TurnID, At: got.At, Tenant: eng.Tenant(), Session: "a",
				Unreadable: "schema_version: 2 is not known, this program reads 1; use a newer turnstone",
			}
			if diff := cmp.Diff(want, got); diff != "" || got.At.IsZero() {
				t.Errorf("%s: told at %v (-want +got):\n%s", name, got.At, diff)
			}
			var newer *commit.VersionError
			if _, err := commit.DecodeExport(string(messages[1].Body)); !errors.As(err, &newer) || newer.Version != 2 {
				t.Errorf("%s: what is told is read as %v, want that its version is 2", name, err)
			}
			if _, err := commit.DecodeExport(string(messages[2].Body)); err != nil {
				t.Errorf("%s: the one behind it: %v", name, err)
			}
		}
		if _, err := eng.Export(t.Context(), newerID); err == nil ||
			err.Error() != "export "+newerID+" of a: schema_version: 2 is not known, this program reads 1; use a newer turnstone" {
			t.Errorf("the export itself: %v", err)
		}
	})
}

// A daemon has an export that only a newer program can read among its dead letters, which say so, and handles the others, those of the
// session behind it too.
func TestANewerExportIsADeadLetter(t *testing.T) {
	onEveryStore(t, func(t *testing.T, st store.Store) {
		eng := open(t, st, turnstone.Config{})
		first, last := publishNewer(t, st, eng)
		handled := make(chan string)
		sub, err := eng.Subscribe(t.Context(), "indexer", func(_ context.Context, m event.Message) (int, error) {
			handled <- m.ID
			return 1, nil
		}, bus.Options{Backoff: []time.Duration{}})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{first.ExportID, last.ExportID} {
			if got := <-handled; got != want {
				t.Errorf("handled %s, want %s", got, want)
			}
		}
		if err := sub.Close(); err != nil {
			t.Fatal(err)
		}
		letters, err := eng.DeadLetters(t.Context(), "indexer", 10)
		if err != nil || len(letters) != 1 || letters[0].ExportID != newerID || letters[0].Session != "a" {
			t.Fatalf("dead letters are %+v, %v, want the newer export alone", letters, err)
		}
		const reason = "schema_version: 2 is not known, this program reads 1; use a newer turnstone"
		if !strings.HasSuffix(letters[0].Error, reason) {
			t.Errorf("it is dead since %q, want %q", letters[0].Error, reason)
		}
	})
}
