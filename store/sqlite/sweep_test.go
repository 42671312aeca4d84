package sqlite_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// TestSweepLooksAtTheOldestExportsOnly: a week of them is too much to go through in the writer each time. One that a
// clock put behind younger ones is swept with these.
func TestSweepLooksAtTheOldestExportsOnly(t *testing.T) {
	s := openNew(t, sqlite.Config{})
	const young, limit = 4000, 500
	err := s.Update(t.Context(), func(tx store.Tx) error {
		for n := range int64(young + 2) {
			id := fmt.Sprintf("%026d", n)
			e := event.Export{
				Tenant: "default", Session: "s", Segment: 1, ID: id, TurnID: id, First: n, Last: n, Status: "complete", Body: "{}", At: noon,
			}
			switch n {
			case 0:
				e.Body = "" // as of a session that was imported
			case young + 1:
				e.At = noon.Add(-time.Hour)
			}
			if err := tx.Outbox().InsertExport(t.Context(), e); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	all := func(_ context.Context, exports []event.Export) (int, error) { return len(exports), nil }
	if n, err := s.Publish(t.Context(), 2*young, store.Publication{Send: all}); n != young+2 || err != nil {
		t.Fatalf("published %d: %v", n, err)
	}
	sweep := func(before time.Time) (swept int64) {
		t.Helper()
		err := s.Update(t.Context(), func(tx store.Tx) (err error) {
			swept, err = tx.Outbox().SweepExports(t.Context(), before, limit)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return swept
	}
	if n := sweep(noon); n != 0 {
		t.Errorf("swept %d behind %d that are younger", n, young)
	}
	swept := int64(0)
	for n := sweep(noon.Add(time.Hour)); n > 0; n = sweep(noon.Add(time.Hour)) {
		swept += n
	}
	if swept != young+1 {
		t.Errorf("swept %d of %d", swept, young+1)
	}
}
