package sqlite_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// refusedByTheDisk says so where an answer is not that the disk failed.
func refusedByTheDisk(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, store.ErrUnknown) && !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("%s was answered %v, although what it rests on is not durable", what, err)
	}
}

// newDoomedAirport is an airport whose flights are not synced. The log has them all the same if it is intact.
func newDoomedAirport(t *testing.T, config sqlite.Config, intact bool) *airport {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.db")
	s := open(t, path, config)
	a := &airport{s, create(t, s, key("s")).Key, make(chan struct{}, 8), make(chan struct{})}
	s.SyncFlights(func(sync func() error) error {
		a.started <- struct{}{}
		<-a.free
		mend := loseWrites(t, path+"-wal")
		err := sync()
		if !intact {
			t.Cleanup(mend)
			return err
		}
		mend()
		return sync() // it fails as well, and looks at the log again
	})
	return a
}

// TestWhatRestsOnALostFlight: who read what a flight wrote is not answered with what it made of it when the flight is lost,
// neither with success nor with an error of its own. Once the log is copied, it is.
func TestWhatRestsOnALostFlight(t *testing.T) {
	seen := errors.New("it is there")
	for _, intact := range []bool{false, true} {
		for name, group := range map[string]int{"alone": 1, "together": 2} {
			t.Run(fmt.Sprintf("%s, intact: %v", name, intact), func(t *testing.T) {
				a := newDoomedAirport(t, sqlite.Config{GroupCommit: 2}, intact)
				ran := make(chan struct{}, 8)
				look := func(then error) func() error {
					return func() error {
						return a.s.Update(t.Context(), func(tx store.Tx) error {
							marks, err := tx.Log().Bookmarks(t.Context(), a.k)
							ran <- struct{}{}
							if err != nil || len(marks) == 0 {
								return err
							}
							return then
						})
					}
				}
				mark := func(name string) func() error { return func() error { return a.mark(t, name) } }
				updates := []func() error{mark("0"), mark("1"), look(seen), look(nil)}[:2+group]
				go func() {
					<-a.started
					for range group {
						<-ran
					}
					close(a.free)
				}()
				errs := holding(t, a.s, updates...)
				for i, err := range errs {
					what := fmt.Sprint("update ", i)
					switch {
					case i < 2 || !intact:
						refusedByTheDisk(t, what, err)
					case i == 2 && !errors.Is(err, seen), i == 3 && err != nil:
						t.Errorf("%s: %v, although the log was copied", what, err)
					}
				}
				if intact && len(ran) == 0 {
					t.Error("what rested on the lost flight was not run again")
				}
			})
		}
	}
}

// TestAnUpdateThatFailsInALostFlight: its answer may rest on what others wrote before it in the same round.
func TestAnUpdateThatFailsInALostFlight(t *testing.T) {
	a := newDoomedAirport(t, sqlite.Config{GroupCommit: 2}, true)
	close(a.free)
	var exists error
	again := func() error {
		return a.s.Update(t.Context(), func(tx store.Tx) error {
			exists = tx.Log().InsertBookmark(t.Context(), a.k, turn.Bookmark{Name: "0", At: tx.Now()})
			return exists
		})
	}
	errs := holding(t, a.s, func() error { return a.mark(t, "0") }, again, func() error { return a.mark(t, "2") })
	if exists == nil || len(a.started) == 0 {
		t.Fatalf("it did not fail in flight: %v, %d flights", exists, len(a.started))
	}
	refusedByTheDisk(t, "who wrote", errs[0])
	refusedByTheDisk(t, "who failed for it", errs[1])
}

// TestReadingALostFlight: what is not durable is told to nobody who reads, in whatever way, until the log is mended.
func TestReadingALostFlight(t *testing.T) {
	a := newDoomedAirport(t, sqlite.Config{GroupCommit: 2}, true)
	found := errors.New("found")
	viewed := make(chan struct{})
	go func() {
		<-a.started
		defer close(viewed)
		for _, then := range []error{nil, found} {
			err := a.s.View(t.Context(), func(tx store.Tx) error {
				marks, err := tx.Log().Bookmarks(t.Context(), a.k)
				if err != nil || len(marks) != 2 {
					t.Errorf("%d bookmarks are seen: %v", len(marks), err)
				}
				if then == nil {
					close(a.free)
				}
				return then
			})
			refusedByTheDisk(t, fmt.Sprintf("a view that returned %v", then), err)
		}
	}()
	mark := func(name string) func() error { return func() error { return a.mark(t, name) } }
	before, _ := a.s.Generation()
	errs := holding(t, a.s, mark("0"), mark("1"), func() error {
		return a.s.Update(t.Context(), func(store.Tx) error { <-viewed; return nil })
	})
	refusedByTheDisk(t, "who wrote", errs[0])
	if errs[2] != nil {
		t.Errorf("who came after it: %v", errs[2])
	}
	if names, err := a.marks(t.Context()); err != nil || fmt.Sprint(names) != "[0 1]" {
		t.Errorf("%v: %v, although the log was copied", names, err)
	}
	if now, _ := a.s.Generation(); now == before {
		t.Error("what is kept in memory is taken for true, although it was never told of what the flight wrote")
	}
}

// TestADiskThatGetsWellWhileNobodyWrites: reading goes on as soon as the log is copied, which needs no update.
func TestADiskThatGetsWellWhileNobodyWrites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	s := open(t, path, sqlite.Config{GroupCommit: 2})
	a := &airport{s: s, k: create(t, s, key("s")).Key}
	mend := func() {}
	s.SyncFlights(func(sync func() error) error {
		mend = loseWrites(t, path+"-wal")
		return sync()
	})
	mark := func(name string) func() error { return func() error { return a.mark(t, name) } }
	for i, err := range holding(t, s, mark("0"), mark("1"), mark("2")) {
		refusedByTheDisk(t, fmt.Sprint("update ", i), err)
	}
	_, err := a.marks(t.Context())
	refusedByTheDisk(t, "who reads", err)
	mend()
	eventually(t, "reading again", func() bool {
		names, err := a.marks(t.Context())
		return err == nil && fmt.Sprint(names) == "[0 1]"
	})
}

// TestManyWhenAFlightIsLost: from then on nobody is told of a success, all that was is there when the store is opened anew,
// and the file is sound.
func TestManyWhenAFlightIsLost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	s := open(t, path, sqlite.Config{GroupCommit: 4})
	a := &airport{s: s, k: create(t, s, key("s")).Key}
	var flights, lost atomic.Int32
	mend := func() {}
	s.SyncFlights(func(sync func() error) error {
		if flights.Add(1) != 20 {
			return sync()
		}
		mend = loseWrites(t, path+"-wal")
		err := sync()
		lost.Store(1)
		return err
	})
	var mu sync.Mutex
	told, unknown := make(map[string]bool), make(map[string]bool)
	var all sync.WaitGroup
	for member := range 16 {
		all.Go(func() {
			for i := range 200 {
				name := fmt.Sprint(member, "-", i)
				late := lost.Load() > 0
				err := a.mark(t, name)
				mu.Lock()
				told[name], unknown[name] = err == nil, errors.Is(err, store.ErrUnknown)
				mu.Unlock()
				if err != nil || late {
					refusedByTheDisk(t, name, err)
					return
				}
			}
		})
	}
	all.Wait()
	_, err := a.marks(t.Context())
	refusedByTheDisk(t, "who reads", err)
	mend()
	closed(t, s)
	a.s = open(t, path, sqlite.Config{})
	names, err := a.marks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, there := range told {
		if found := slices.Contains(names, name); found != there && !unknown[name] {
			t.Errorf("%s is there: %v, which is not what was told", name, found)
		}
	}
	if problems, err := a.s.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("check: %v, %v", problems, err)
	}
	if err := a.mark(t, "after"); err != nil {
		t.Error(err)
	}
}
