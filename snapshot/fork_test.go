package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/internal/span"
	"github.com/turnstone-dev/turnstone/internal/turngen"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
)

// unlisted cannot list snapshots.
type unlisted struct{ snapshot.Rows }

func (unlisted) Snapshots(context.Context, string, []span.Span, string, int) ([]snapshot.Row, error) {
	return nil, errors.New("fault")
}

func TestForkCopiesWhatWasTakenAtItsPoint(t *testing.T) {
	const many = 250 // more than two pages
	at := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
	st := mem.New(mem.Config{})
	parent := []span.Span{{Segment: 1, To: 5}}
	err := st.Update(t.Context(), func(tx store.Tx) error {
		for n := range int64(many) {
			s := snapshot.Snapshot{ID: turngen.ID(uint64(n + 1)), Session: "s", Name: fmt.Sprint("n", n), Turn: 4 + n%3, At: at}
			if err := snapshot.Take(t.Context(), tx.Snapshot(), "acme", 1, s); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	fork := func(rows func(snapshot.Rows) snapshot.Rows, first uint64) error {
		return st.Update(t.Context(), func(tx store.Tx) error {
			next := first
			return snapshot.Fork(t.Context(), rows(tx.Snapshot()), "acme", parent, 2, 5, func() string {
				next++
				return turngen.ID(next)
			})
		})
	}
	same := func(r snapshot.Rows) snapshot.Rows { return r }
	if err := fork(func(r snapshot.Rows) snapshot.Rows { return unlisted{r} }, 1000); err == nil || err.Error() != "snapshots at turn 5: fault" {
		t.Errorf("unlisted: %v", err)
	}
	if err := fork(same, 0); !errors.Is(err, snapshot.ErrExists) {
		t.Errorf("with the parent's ids: %v", err)
	}
	if err := fork(same, 1000); err != nil {
		t.Fatal(err)
	}
	var copies []snapshot.Snapshot
	err = st.View(t.Context(), func(tx store.Tx) (err error) {
		copies, err = snapshot.List(t.Context(), tx.Snapshot(), "acme", []span.Span{{Segment: 2, To: 9}}, "", many)
		return err
	})
	if err != nil || len(copies) != 83 {
		t.Fatalf("%d copies, %v", len(copies), err)
	}
	for i, s := range copies {
		n := uint64(len(copies) - i)
		if want := (snapshot.Snapshot{ID: turngen.ID(1000 + n), Session: "s", Name: fmt.Sprint("n", 3*n-2), Turn: 5, At: at}); s != want {
			t.Errorf("copy %d: %+v, want %+v", i, s, want)
		}
	}
}
