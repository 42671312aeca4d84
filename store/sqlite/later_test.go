package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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
	for i, want := range []int{1, 0} { // what was there when it was opened is synced first
		synced("publishing", want, func() error {
			var sent []string
			n, err := s.Publish(t.Context(), 3, sending(&sent))
			if n != 3 {
				t.Errorf("%d published at time %d", n, i)
			}
			return err
		})
	}
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

// TestPublishingWhatIsNotSynced: another process may have written it a moment ago, before this one was started or while
// that one published, and not have synced it when it ended.
func TestPublishingWhatIsNotSynced(t *testing.T) {
	for name, publishes := range map[string]bool{"it was there at the start": false, "its lease ended": true} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "later.db")
			var now atomic.Int64
			now.Store(noon.UnixMicro())
			config := sqlite.Config{Clock: func() time.Time { return time.UnixMicro(now.Load()) }}
			s, other := open(t, path, config), open(t, path, config)
			if publishes {
				export(t, s, "own")
				if n, err := s.Publish(t.Context(), 10, sending(new([]string))); n != 1 || err != nil {
					t.Fatalf("%d published: %v", n, err)
				}
			}
			err := other.Update(t.Context(), func(tx store.Tx) error {
				tx.SyncLater()
				return tx.Outbox().InsertExport(t.Context(), event.Export{
					Tenant: "default", Session: "s", Segment: 1, ID: "e", TurnID: "e", Last: 1, Body: "{}", At: tx.Now(),
				})
			})
			if publishes {
				err = errors.Join(err, other.TakeOverRelayUntil(t.Context(), "one that dies", time.UnixMicro(now.Load()).Add(time.Second)))
			}
			if err != nil {
				t.Fatal(err)
			}
			if publishes {
				if n, err := s.Publish(t.Context(), 10, sending(new([]string))); n != 0 || err != nil {
					t.Fatalf("while the other one has the lease: %d published: %v", n, err)
				}
			} else {
				s = open(t, path, config)
			}
			now.Add(time.Minute.Microseconds())
			before := s.Syncs()
			n, err := s.Publish(t.Context(), 10, store.Publication{Send: func(_ context.Context, exports []event.Export) (int, error) {
				if s.Syncs() == before {
					t.Error("it is sent before it is known to be durable")
				}
				return len(exports), nil
			}})
			if n != 1 || err != nil {
				t.Errorf("%d published: %v", n, err)
			}
		})
	}
}
