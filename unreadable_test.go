package turnstone_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
)

// Who looks on is told of an export that is damaged, and sees those behind it.
func TestPublishedGoesOnBehindADamagedExport(t *testing.T) {
	onEveryStore(t, func(t *testing.T, st store.Store) {
		eng := open(t, st, turnstone.Config{})
		first := commitText(t, session(t, eng, "a"), "one")
		if err := eng.Publish(t.Context()); err != nil {
			t.Fatal(err)
		}
		err := st.Update(t.Context(), func(tx store.Tx) error {
			e, err := tx.Outbox().Export(t.Context(), eng.Tenant(), first.ExportID)
			if err != nil {
				return err
			}
			e.ID, e.Sent, e.Body = newerID, 0, `{"x`
			return tx.Outbox().InsertExport(t.Context(), e)
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := eng.Publish(t.Context()); err != nil {
			t.Fatal(err)
		}
		last := commitText(t, session(t, eng, "a"), "three")
		if err := eng.Publish(t.Context()); err != nil {
			t.Fatal(err)
		}
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
			why := got.Unreadable
			got.Unreadable = ""
			if want := (untold{ID: newerID, TurnID: first.TurnID, At: got.At, Tenant: eng.Tenant(), Session: "a"}); got != want || got.At.IsZero() {
				t.Errorf("%s: told %+v, want %+v", name, got, want)
			}
			if !strings.HasPrefix(why, "export "+newerID+": ") || strings.Contains(string(messages[1].Body), "schema_version") {
				t.Errorf("%s: told %s", name, messages[1].Body)
			}
		}
	})
}

var errUnanswered = errors.New("the store is broken")

// broken is a store that answers nothing but what was published.
type broken struct{ store.Store }

func (s broken) View(ctx context.Context, fn func(store.Tx) error) error {
	return s.Store.View(ctx, func(tx store.Tx) error { return fn(brokenTx{tx}) })
}

type brokenTx struct{ store.Tx }

func (t brokenTx) Outbox() event.Rows { return brokenOutbox{t.Tx.Outbox()} }

type brokenOutbox struct{ event.Rows }

func (o brokenOutbox) Published(ctx context.Context, after int64, limit int) ([]event.Export, error) {
	exports, err := o.Rows.Published(ctx, after, limit)
	for i := range exports {
		exports[i].Body = `{"x`
	}
	return exports, err
}

func (brokenOutbox) LastPublished(context.Context) (int64, error) { return 0, errUnanswered }

// A store that does not answer any more says nothing about its exports.
func TestPublishedEndsWithABrokenStore(t *testing.T) {
	st := mem.New(mem.Config{})
	eng := open(t, st, turnstone.Config{})
	commitText(t, session(t, eng, "a"), "one")
	if err := eng.Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	blind := open(t, broken{st}, turnstone.Config{})
	if messages, through, err := blind.Published(t.Context(), 0, 10); err == nil || through != 0 {
		t.Errorf("told %v up to %d, %v", messages, through, err)
	}
}
