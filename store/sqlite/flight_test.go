package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// overtake is long enough for somebody who does not wait as it should.
const overtake = 20 * time.Millisecond

// airport is a store whose flights are held until they may land.
type airport struct {
	s       *sqlite.Store
	k       turn.Key
	started chan struct{}
	free    chan struct{}
}

func newAirport(t *testing.T, config sqlite.Config) *airport {
	t.Helper()
	s := openNew(t, config)
	a := &airport{s, create(t, s, key("s")).Key, make(chan struct{}, 8), make(chan struct{})}
	s.HoldFlights(func() {
		a.started <- struct{}{}
		<-a.free
	})
	return a
}

// mark writes a bookmark.
func (a *airport) mark(t *testing.T, name string) error {
	return a.s.Update(t.Context(), func(tx store.Tx) error {
		return tx.Log().InsertBookmark(t.Context(), a.k, turn.Bookmark{Name: name, At: tx.Now()})
	})
}

func (a *airport) marks(ctx context.Context) (names []string, err error) {
	err = a.s.View(ctx, func(tx store.Tx) error {
		marks, err := tx.Log().Bookmarks(ctx, a.k)
		for _, m := range marks {
			names = append(names, m.Name)
		}
		return err
	})
	return names, err
}

// depart has a round of two in flight, behind which one waits. Each is told on a channel how it went.
func (a *airport) depart(t *testing.T) (told [3]chan error, all *sync.WaitGroup) {
	t.Helper()
	all = &sync.WaitGroup{}
	for i := range told {
		told[i] = make(chan error, 1)
	}
	all.Go(func() {
		errs := holding(t, a.s,
			func() error { err := a.mark(t, "0"); told[0] <- err; return err },
			func() error { err := a.mark(t, "1"); told[1] <- err; return err },
			func() error { err := a.mark(t, "2"); told[2] <- err; return err })
		for i, err := range errs {
			if err != nil {
				t.Errorf("update %d: %v", i, err)
			}
		}
	})
	<-a.started
	return told, all
}

// TestNobodyHearsOfAFlight: neither who wrote nor who reads is answered before what they wrote or saw is durable, and what
// comes meanwhile is run.
func TestNobodyHearsOfAFlight(t *testing.T) {
	a := newAirport(t, sqlite.Config{GroupCommit: 2})
	told, all := a.depart(t)
	silent := func(when string) {
		t.Helper()
		for i := range told {
			select {
			case <-told[i]:
				t.Errorf("%s: update %d was answered", when, i)
			default:
			}
		}
	}
	ran, late := make(chan struct{}), make(chan error, 1)
	all.Go(func() {
		late <- a.s.Update(t.Context(), func(tx store.Tx) error {
			close(ran)
			return errors.New("it failed for what it saw")
		})
	})
	<-ran
	silent("the next round is run")

	ctx, cancel := context.WithCancel(t.Context())
	err := a.s.View(ctx, func(tx store.Tx) error {
		marks, err := tx.Log().Bookmarks(ctx, a.k)
		if len(marks) != 2 {
			t.Errorf("%d bookmarks are seen", len(marks))
		}
		cancel() // who reads waits now, until its caller does not any more
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("who read what is not durable: %v", err)
	}
	gone, leave := context.WithCancel(t.Context())
	err = a.s.View(gone, func(store.Tx) error {
		leave()
		return errors.New("it failed for what it saw")
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("who failed for what is not durable: %v", err)
	}
	seen := make(chan []string, 1)
	all.Go(func() {
		names, err := a.marks(t.Context())
		if err != nil {
			t.Error(err)
		}
		seen <- names
	})
	select {
	case names := <-seen:
		t.Errorf("who reads was told %v", names)
	case err := <-late:
		t.Errorf("the next round was answered: %v", err)
	case <-time.After(overtake):
	}
	silent("somebody reads")
	close(a.free)
	if diff := cmp.Diff([]string{"0", "1"}, (<-seen)[:2]); diff != "" {
		t.Error(diff)
	}
	all.Wait()
	if err := <-late; err == nil || err.Error() != "it failed for what it saw" {
		t.Errorf("got %v", err)
	}
	if names, err := a.marks(t.Context()); err != nil || fmt.Sprint(names) != "[0 1 2]" {
		t.Errorf("%v: %v", names, err)
	}
}

// TestClosingWaitsForAFlight: what is under way is finished and answered.
func TestClosingWaitsForAFlight(t *testing.T) {
	a := newAirport(t, sqlite.Config{GroupCommit: 2})
	_, all := a.depart(t)
	closed := make(chan error, 1)
	go func() { closed <- a.s.Close() }()
	select {
	case err := <-closed:
		t.Errorf("closed before it landed: %v", err)
	case <-time.After(overtake):
	}
	close(a.free)
	all.Wait()
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// TestHooksMayRead: what is run after the commit of a flight reads what it wrote.
func TestHooksMayRead(t *testing.T) {
	a := newAirport(t, sqlite.Config{GroupCommit: 2})
	close(a.free)
	var seen []string
	hooked := func() error {
		return a.s.Update(t.Context(), func(tx store.Tx) error {
			tx.AfterCommit(func() { seen, _ = a.marks(t.Context()) })
			return tx.Log().InsertBookmark(t.Context(), a.k, turn.Bookmark{Name: "hooked", At: tx.Now()})
		})
	}
	mark := func() error { return a.mark(t, "other") }
	for _, err := range holding(t, a.s, hooked, mark, func() error { return a.mark(t, "third") }) {
		if err != nil {
			t.Error(err)
		}
	}
	if len(seen) < 2 || len(a.started) != 1 {
		t.Errorf("the hook saw %v; %d flights", seen, len(a.started))
	}
}

// TestRoundsThatNobodyWaitsFor: what only reads and what may be synced later is not, however many wait for the writer.
func TestRoundsThatNobodyWaitsFor(t *testing.T) {
	a := newAirport(t, sqlite.Config{GroupCommit: 2})
	close(a.free)
	reads := func() error {
		return a.s.Update(t.Context(), func(tx store.Tx) error {
			_, err := tx.Log().Bookmarks(t.Context(), a.k)
			return err
		})
	}
	later := func() error {
		return a.s.Update(t.Context(), func(tx store.Tx) error {
			tx.SyncLater()
			return tx.Log().InsertBookmark(t.Context(), a.k, turn.Bookmark{Name: tx.Now().String(), At: tx.Now()})
		})
	}
	before := a.s.Syncs()
	for _, err := range holding(t, a.s, reads, reads, later, later, reads) {
		if err != nil {
			t.Error(err)
		}
	}
	if got := a.s.Syncs() - before; got != 0 {
		t.Errorf("%d syncs", got)
	}
}

// TestNothingIsCopiedBesideAFlight: of two syncs of one file at once the system tells only one that it failed, so that the
// writer, which copies a log that is too long, waits for the flight first.
func TestNothingIsCopiedBesideAFlight(t *testing.T) {
	a := newAirport(t, sqlite.Config{GroupCommit: 2})
	mark := func(name string) func() error { return func() error { return a.mark(t, name) } }
	before := a.s.SyncsSoFar()
	go func() {
		<-a.started
		select {
		case <-a.started:
			t.Error("another flight took off")
		case <-time.After(overtake):
		}
		if got := a.s.SyncsSoFar() - before; got != 0 {
			t.Errorf("the log was synced %d times beside the flight", got)
		}
		close(a.free)
	}()
	errs := holding(t, a.s, mark("0"), func() error {
		return a.s.Update(t.Context(), func(tx store.Tx) error {
			a.s.ShortenLog(1, 0) // all commits from here on are too long
			return tx.Log().InsertBookmark(t.Context(), a.k, turn.Bookmark{Name: "1", At: tx.Now()})
		})
	}, mark("2"))
	for i, err := range errs {
		if err != nil {
			t.Errorf("update %d: %v", i, err)
		}
	}
}
