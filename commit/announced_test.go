package commit_test

import (
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/faulty"
)

// What is given up is told once it is stored, and it is what is stored.
func TestEscalationsAreAnnounced(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		told := make(chan event.Event, 9)
		w := open(commit.Config{Retries: []time.Duration{time.Millisecond}, Announced: func(e event.Event) { told <- e }})
		faults := faulty.New(w.store)
		w.withStore(faults)
		faults.Set(failAt("InsertVersion"))
		w.commit(everything(1))
		got := <-told
		if stored := w.events(); len(stored) != 1 || stored[0] != got || got.Kind != event.CommitEscalated {
			t.Errorf("told %+v, stored %+v", got, stored)
		}
	})
}
