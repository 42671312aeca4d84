package sqlite_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// TestWhatIsSynced: an update that somebody waits for is synced, whoever shares its round, and one that nobody waits for
// is not; publishing is none that anybody waits for.
func TestWhatIsSynced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "later.db")
	s := open(t, path, sqlite.Config{})
	var written atomic.Int64
	write := func(tx store.Tx) error {
		n := written.Add(1)
		e := event.Export{Tenant: "default", Session: "s", Segment: 1, ID: fmt.Sprint(n), TurnID: fmt.Sprint(n), Last: n, Body: "{}", At: tx.Now()}
		return tx.Outbox().InsertExport(t.Context(), e)
	}
	synced := func(what string, want int, do func() error) {
		t.Helper()
		before := s.Syncs()
		if err := do(); err != nil {
			t.Fatal(err)
		}
		if got := s.Syncs() - before; got != want {
			t.Errorf("%s: %d syncs, want %d", what, got, want)
		}
	}
	synced("an update", 1, func() error { return s.Update(t.Context(), write) })
	later := func(tx store.Tx) error {
		tx.SyncLater()
		return write(tx)
	}
	synced("one that nobody waits for", 0, func() error { return s.Update(t.Context(), later) })
	synced("a round with both", 1, func() error {
		var group sync.WaitGroup
		held, free := make(chan struct{}), make(chan struct{})
		group.Go(func() {
			s.Update(t.Context(), func(tx store.Tx) error { tx.SyncLater(); close(held); <-free; return nil })
		})
		<-held
		for i := range 4 {
			group.Go(func() {
				update := later
				if i == 2 {
					update = write
				}
				if err := s.Update(t.Context(), update); err != nil {
					t.Error(err)
				}
			})
		}
		eventually(t, "queueing", func() bool { return s.Waiting() == 4 })
		close(free)
		group.Wait()
		return nil
	})
	synced("publishing", 0, func() error {
		var sent []string
		n, err := s.Publish(t.Context(), 10, sending(&sent))
		if n != 6 {
			t.Errorf("%d published", n)
		}
		return err
	})
	other := open(t, path, sqlite.Config{})
	for _, test := range []struct {
		what string
		by   *sqlite.Store
		want int
	}{{"publishing what another process wrote", other, 1}, {"publishing what this one wrote again", s, 0}} {
		if err := test.by.Update(t.Context(), write); err != nil {
			t.Fatal(err)
		}
		synced(test.what, test.want, func() error {
			var sent []string
			n, err := s.Publish(t.Context(), 10, sending(&sent))
			if n != 1 {
				t.Errorf("%s: %d published", test.what, n)
			}
			return err
		})
	}
}
