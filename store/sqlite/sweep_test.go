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
	now := noon
	s := openNew(t, sqlite.Config{Clock: func() time.Time { return now }})
	const young, limit = 4000, 500
	err := s.Update(t.Context(), func(tx store.Tx) error {
		for n := range int64(young + 2) {
			id := fmt.Sprintf("%026d", n)
			e := event.Export{
				Tenant: "default", Session: "s", Segment: 1, ID: id, TurnID: id, First: n, Last: n, Status: "complete", Body: "{}", At: noon,
			}
			if n == 0 {
				e.Body = "" // as of one that was swept and loaded
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
	for _, n := range []int{young + 1, 1} {
		if sent, err := s.Publish(t.Context(), n, store.Publication{Send: all}); sent != n || err != nil {
			t.Fatalf("published %d of %d: %v", sent, n, err)
		}
		now = noon.Add(-time.Hour)
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
