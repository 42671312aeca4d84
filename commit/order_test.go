package commit_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
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
			faults.Set(failAt("InsertTurns"))
			source := ids.New(nil)
			older := source.Next(start.Add(-time.Hour))
			w.commit(talk("q1", "a1"))
			later.Add(-int64(time.Second))
			w.commit(talk("q2", "a2"))
			ex := talk("q3", "a3") // at the same time
			ex.ExportID = older
			w.commit(ex)
			faults.Set(nil)
			later.Add(int64(time.Minute))
			w.settleAll()
			said := slices.DeleteFunc(w.turns(), func(text string) bool { return text[0] == '[' })
			if !slices.Equal(said, []string{"q1", "a1", "q2", "a2", "q3", "a3"}) {
				t.Errorf("the log reads %q", said)
			}
		})
	}
}
