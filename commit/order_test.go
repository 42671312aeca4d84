package commit_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// What is put off is written in the order of the exchanges, whatever the clock says, and whatever ids they have.
func TestWhatIsPutOffKeepsItsOrderWhenTheClockGoesBack(t *testing.T) {
	for name, open := range map[string]func(clock func() time.Time) (store.Store, error){
		"mem": func(clock func() time.Time) (store.Store, error) { return mem.New(mem.Config{Clock: clock}), nil },
		"sqlite": func(clock func() time.Time) (store.Store, error) {
			return sqlite.Open(t.Context(), t.TempDir()+"/log.db", sqlite.Config{Clock: clock})
		},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			var later atomic.Int64 // read by the worker too
			clock := func() time.Time { return start.Add(time.Duration(later.Load())) }
			st, err := open(clock)
			if err != nil {
				t.Fatal(err)
			}
			w := newWorld(t, st, commit.Config{Clock: clock, Retries: []time.Duration{time.Hour, time.Hour}})
			faults := faulty.New(w.store)
			w.withStore(faults)
			source := ids.New(nil)
			oldest, older := source.Next(start.Add(-2*time.Hour)), source.Next(start.Add(-time.Hour))
			w.commit(talk("q0", "a0"))
			faults.Set(failAt("InsertTurns"))
			later.Add(-int64(time.Second))
			first := talk("q1", "a1")
			first.ExportID = oldest
			w.commit(first)
			later.Add(-int64(time.Second))
			w.commit(talk("q2", "a2"))
			ex := talk("q3", "a3") // at the same time
			ex.ExportID = older
			w.commit(ex)
			faults.Set(nil)
			if got := w.publishedInputs(); !slices.Equal(got, []string{"q0", "q1", "q2", "q3"}) {
				t.Errorf("published are %q", got)
			}
			later.Add(int64(time.Minute))
			w.settleAll()
			said := slices.DeleteFunc(w.turns(), func(text string) bool { return text[0] == '[' })
			if !slices.Equal(said, []string{"q0", "a0", "q1", "a1", "q2", "a2", "q3", "a3"}) {
				t.Errorf("the log reads %q", said)
			}
		})
	}
}

// What is put off in a row is published in its order, whatever ids a client gives it.
func TestWhatIsPutOffIsPublishedInItsOrder(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{Retries: []time.Duration{time.Hour}})
		faults := faulty.New(w.store)
		w.withStore(faults)
		var list []string
		for range 4 {
			list = append(list, w.config.NewID())
		}
		for i := range list {
			ex := talk(fmt.Sprint("q", i), "a")
			ex.ExportID = list[len(list)-1-i]
			w.commit(ex)
			faults.Set(failAt("InsertTurns"))
		}
		faults.Set(nil)
		if got := w.publishedInputs(); !slices.Equal(got, []string{"q0", "q1", "q2", "q3"}) {
			t.Errorf("published are %q", got)
		}
	})
}

// publishedInputs publishes all that waits and returns what it is about, in its order.
func (w *world) publishedInputs() (inputs []string) {
	w.Helper()
	p := store.Publication{
		Send: func(_ context.Context, exports []event.Export) (int, error) { return len(exports), nil },
		Note: func(ctx context.Context, tx store.Tx, exports []event.Export) error {
			inputs = nil
			for _, e := range exports {
				row, err := tx.Outbox().Export(ctx, e.Tenant, e.ID)
				if err != nil {
					return err
				}
				whole, err := commit.Whole(ctx, tx, row)
				if err != nil {
					return err
				}
				inputs = append(inputs, whole.Turn.UserInput)
			}
			return nil
		},
	}
	if _, err := w.store.Publish(w.Context(), 100, p); err != nil {
		w.Fatal(err)
	}
	return inputs
}
