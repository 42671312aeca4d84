package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// holding runs an update that keeps the writer busy, then queues the others in this order, and
// returns their errors once all are done.
func holding(t *testing.T, s *sqlite.Store, updates ...func() error) []error {
	t.Helper()
	held, release := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		err := s.Update(t.Context(), func(store.Tx) error {
			close(held)
			<-release
			return nil
		})
		if err != nil {
			t.Errorf("the update that holds: %v", err)
		}
	})
	<-held
	errs := make([]error, len(updates))
	for i, update := range updates {
		waiting := s.Waiting() // the index of texts may have queued, too
		all.Go(func() { errs[i] = update() })
		eventually(t, "queueing", func() bool { return s.Waiting() > waiting })
	}
	close(release)
	all.Wait()
	return errs
}

// TestWaitingUpdatesAreOneTransaction: each round is synced once. With more than one of them, the next is run while one is
// synced, and no more than that.
func TestWaitingUpdatesAreOneTransaction(t *testing.T) {
	for name, test := range map[string]struct {
		config sqlite.Config
		syncs  int
		want   string
	}{
		"folded":          {sqlite.Config{}, 1, "run0 run1 run2 run3 run4 done0 done1 done2 done3 done4"},
		"at most so many": {sqlite.Config{GroupCommit: 2}, 3, "run0 run1 run2 run3 done0 done1 run4 done2 done3 done4"},
		"switched off":    {sqlite.Config{GroupCommit: 1}, 5, "run0 done0 run1 done1 run2 done2 run3 done3 run4 done4"},
	} {
		t.Run(name, func(t *testing.T) {
			s := openNew(t, test.config)
			k := create(t, s, key("s")).Key
			second, third := make(chan struct{}), make(chan struct{})
			flights := []chan struct{}{second, third}
			s.HoldFlights(func() {
				<-flights[0]
				flights = flights[1:]
			})
			var order []string // only one of writer and flight touches it
			var updates []func() error
			for i := range 5 {
				updates = append(updates, func() error {
					return s.Update(t.Context(), func(tx store.Tx) error {
						order = append(order, fmt.Sprintf("run%d", i))
						tx.AfterCommit(func() { order = append(order, fmt.Sprintf("done%d", i)) })
						switch i {
						case 3:
							close(second)
						case 4:
							close(third)
						}
						return tx.Log().InsertBookmark(t.Context(), k, turn.Bookmark{Name: fmt.Sprint(i), At: tx.Now()})
					})
				})
			}
			before := s.Syncs()
			for _, err := range holding(t, s, updates...) {
				if err != nil {
					t.Error(err)
				}
			}
			if got := s.Syncs() - before; got != test.syncs {
				t.Errorf("%d syncs, want %d", got, test.syncs)
			}
			if got := strings.Join(order, " "); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// Updates run without savepoints until something has to be undone. The rounds after that have them from the
// start.
func TestARoundIsRunAgainWhereSomethingMustBeUndone(t *testing.T) {
	boom := errors.New("boom")
	for name, test := range map[string]struct {
		bad  func(tx store.Tx, write func() error) error
		want [2]string // of two rounds
	}{
		"an update that wrote": {
			func(_ store.Tx, write func() error) error { return errors.Join(write(), boom) },
			[2]string{"0 bad 0 bad 2 done", "0 bad 2 done"},
		},
		"an update that wrote nothing": {
			func(store.Tx, func() error) error { return boom },
			[2]string{"0 bad 2 done", "0 bad 2 done"},
		},
		"a target that wrote": {
			func(tx store.Tx, write func() error) error {
				return tx.Savepoint(t.Context(), func() error { return errors.Join(write(), boom) })
			},
			[2]string{"0 bad 0 bad 2 done", "0 bad 2 done"},
		},
		"a target that wrote nothing": {
			func(tx store.Tx, _ func() error) error {
				return tx.Savepoint(t.Context(), func() error { return boom })
			},
			[2]string{"0 bad 2 done", "0 bad 2 done"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := openNew(t, sqlite.Config{})
			k := create(t, s, key("s")).Key
			for round, want := range test.want {
				var order []string // only the writer touches it
				update := func(what string, then func(store.Tx, func() error) error) func() error {
					return func() error {
						return s.Update(t.Context(), func(tx store.Tx) error {
							order = append(order, what)
							return then(tx, func() error {
								return tx.Log().InsertBookmark(t.Context(), k, turn.Bookmark{Name: fmt.Sprint(what, round), At: tx.Now()})
							})
						})
					}
				}
				good := func(_ store.Tx, write func() error) error { return write() }
				errs := holding(t, s, update("0", good), update("bad", test.bad), update("2", func(tx store.Tx, write func() error) error {
					tx.AfterCommit(func() { order = append(order, "done") })
					return write()
				}))
				if errs[0] != nil || !errors.Is(errs[1], boom) || errs[2] != nil {
					t.Errorf("round %d: %v", round, errs)
				}
				if got := strings.Join(order, " "); got != want {
					t.Errorf("round %d: got %s, want %s", round, got, want)
				}
			}
			err := s.View(t.Context(), func(tx store.Tx) error {
				marks, err := tx.Log().Bookmarks(t.Context(), k)
				var names []string
				for _, m := range marks {
					names = append(names, m.Name)
				}
				slices.Sort(names)
				if diff := cmp.Diff([]string{"00", "01", "20", "21"}, names); diff != "" {
					t.Error(diff)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// appending is an update that appends a text and then ends as it is told to.
func appending(ctx context.Context, s store.Store, k turn.Key, text string, end func() error) func() error {
	return func() error {
		sealed, err := seal(turn.User, turn.Text{Text: text})
		if err != nil {
			return err
		}
		return s.Update(ctx, func(tx store.Tx) error {
			if _, err := turn.Append(ctx, tx.Log(), k, tx.Now(), sealed); err != nil {
				return err
			}
			return end()
		})
	}
}

func TestAnUpdateThatEndsBadlyHarmsNoOther(t *testing.T) {
	boom := errors.New("boom")
	fine := func() error { return nil }
	for name, bad := range map[string]struct {
		end  func(cancel func()) error
		want error
	}{
		"error":  {func(func()) error { return boom }, boom},
		"panic":  {func(func()) error { panic(boom) }, boom},
		"exit":   {func(func()) error { runtime.Goexit(); return nil }, errExited},
		"cancel": {func(cancel func()) error { cancel(); return nil }, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			s := openNew(t, sqlite.Config{})
			k := create(t, s, key("s")).Key
			// More than once: the writer must be as good as new after it.
			var want []string
			for round := range 3 {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				name := func(i int) string { return fmt.Sprintf("round %d, turn %d", round, i) }
				errs := holding(t, s,
					appending(t.Context(), s, k, name(1), fine),
					survive(appending(ctx, s, k, "never", func() error { return bad.end(cancel) })),
					appending(t.Context(), s, k, name(2), fine),
				)
				if errs[0] != nil || errs[2] != nil {
					t.Errorf("neighbours: %v, %v", errs[0], errs[2])
				}
				if !errors.Is(errs[1], bad.want) {
					t.Errorf("got %v, want %v", errs[1], bad.want)
				}
				want = append(want, name(1), name(2))
			}
			if diff := cmp.Diff(want, texts(log(t, s, k))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

var errExited = errors.New("goroutine ended")

// survive turns the ways a goroutine can end into errors.
func survive(update func() error) func() error {
	return func() error {
		ended := make(chan error, 1)
		go func() {
			err := errExited
			defer func() {
				if v := recover(); v != nil {
					err = v.(error)
				}
				ended <- err
			}()
			err = update()
		}()
		return <-ended
	}
}

func TestAPanicAfterTheCommitReachesTheCaller(t *testing.T) {
	s := openNew(t, sqlite.Config{})
	k := create(t, s, key("s")).Key
	boom := errors.New("boom")
	err := survive(func() error {
		return s.Update(t.Context(), func(tx store.Tx) error {
			tx.AfterCommit(func() { panic(boom) })
			sealed, err := seal(turn.User, turn.Text{Text: "kept"})
			if err != nil {
				return err
			}
			_, err = turn.Append(t.Context(), tx.Log(), k, tx.Now(), sealed)
			return err
		})
	})()
	if !errors.Is(err, boom) {
		t.Errorf("got %v", err)
	}
	mustSay(t, s, k, "and on")
	if diff := cmp.Diff([]string{"kept", "and on"}, texts(log(t, s, k))); diff != "" {
		t.Error(diff)
	}
}

// An update that is too large for the disk takes the whole transaction with it; the others are made
// without it.
func TestALostTransactionIsMadeAgainWithoutTheOneToBlame(t *testing.T) {
	s := openNew(t, sqlite.Config{})
	k := create(t, s, key("s")).Key
	if err := s.Exec(t.Context(), `PRAGMA max_page_count = 200`); err != nil {
		t.Fatal(err)
	}
	fine := func() error { return nil }
	goOn := func() error { return nil } // as if the error did not matter
	big := strings.Repeat("x", 2<<20)
	sealed, err := seal(turn.User, turn.Text{Text: big})
	if err != nil {
		t.Fatal(err)
	}
	errs := holding(t, s,
		appending(t.Context(), s, k, "first", fine),
		func() error {
			return s.Update(t.Context(), func(tx store.Tx) error {
				if _, err := turn.Append(t.Context(), tx.Log(), k, tx.Now(), sealed); !errors.Is(err, store.ErrFull) {
					t.Errorf("append: %v", err)
				}
				// What comes now must not become a transaction of its own.
				err := tx.Log().InsertBookmark(t.Context(), k, turn.Bookmark{Name: "astray", At: tx.Now()})
				if !errors.Is(err, store.ErrFull) {
					t.Errorf("bookmark: %v", err)
				}
				return goOn()
			})
		},
		appending(t.Context(), s, k, "last", fine),
	)
	if errs[0] != nil || errs[2] != nil {
		t.Errorf("neighbours: %v, %v", errs[0], errs[2])
	}
	if !errors.Is(errs[1], store.ErrFull) {
		t.Errorf("got %v, want ErrFull", errs[1])
	}
	if diff := cmp.Diff([]string{"first", "last"}, texts(log(t, s, k))); diff != "" {
		t.Error(diff)
	}
	err = s.View(t.Context(), func(tx store.Tx) error {
		marks, err := tx.Log().Bookmarks(t.Context(), k)
		if len(marks) > 0 {
			t.Errorf("bookmarks %v", marks)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if err := s.Exec(t.Context(), `PRAGMA max_page_count = 100000`); err != nil {
		t.Fatal(err)
	}
	mustSay(t, s, k, big)
}

func TestAWaitingUpdateCanBeLeft(t *testing.T) {
	s := openNew(t, sqlite.Config{})
	held, release := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		err := s.Update(t.Context(), func(store.Tx) error {
			close(held)
			<-release
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-held
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		left <- s.Update(ctx, func(store.Tx) error {
			t.Error("an update ran whose caller had left")
			return nil
		})
	}()
	eventually(t, "queueing", func() bool { return s.Waiting() == 1 })
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) { // while the writer is held
		t.Errorf("got %v", err)
	}
	close(release)
	all.Wait()
	create(t, s, key("after"))
}

func TestAFullQueueMakesCallersWait(t *testing.T) {
	s := openNew(t, sqlite.Config{})
	k := create(t, s, key("s")).Key
	const callers = 600
	var all sync.WaitGroup
	var updates []func() error
	updates = append(updates, func() error {
		for i := range callers {
			all.Go(func() {
				if _, err := say(t.Context(), s, k, fmt.Sprint(i)); err != nil {
					t.Error(err)
				}
			})
		}
		return nil
	})
	held := func() error { return s.Update(t.Context(), func(store.Tx) error { return updates[0]() }) }
	if err := held(); err != nil {
		t.Fatal(err)
	}
	all.Wait()
	got := texts(log(t, s, k))
	slices.Sort(got)
	if got = slices.Compact(got); len(got) != callers {
		t.Errorf("%d different turns, want %d", len(got), callers)
	}
}

func TestViewsDoNotWaitForUpdates(t *testing.T) {
	s := openNew(t, sqlite.Config{})
	k := create(t, s, key("s")).Key
	mustSay(t, s, k, "seen")
	err := s.Update(t.Context(), func(tx store.Tx) error {
		sealed, err := seal(turn.User, turn.Text{Text: "not yet"})
		if err != nil {
			return err
		}
		if _, err := turn.Append(t.Context(), tx.Log(), k, tx.Now(), sealed); err != nil {
			return err
		}
		if diff := cmp.Diff([]string{"seen"}, texts(log(t, s, k))); diff != "" {
			t.Error(diff)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(log(t, s, k)); n != 2 {
		t.Errorf("%d turns", n)
	}
}

// An update too large for memory writes to the log before it commits. When it fails, what others
// then write to the same place of the log must stay.
func TestALargeUpdateThatFailsHarmsNoOtherStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shared.db")
	a, b := open(t, path, sqlite.Config{}), open(t, path, sqlite.Config{})
	k := create(t, a, key("s")).Key
	if err := a.Exec(t.Context(), `PRAGMA cache_size = 10`); err != nil {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	for round := range 5 {
		a.EmptyLog(t)
		err := a.Update(t.Context(), func(tx store.Tx) error {
			for range 60 {
				sealed, err := seal(turn.User, turn.Text{Text: strings.Repeat("never ", 500)})
				if err != nil {
					return err
				}
				if _, err := turn.Append(t.Context(), tx.Log(), k, tx.Now(), sealed); err != nil {
					return err
				}
			}
			return boom
		})
		if !errors.Is(err, boom) {
			t.Fatal(err)
		}
		for range 10 {
			mustSay(t, b, k, strings.Repeat("kept ", 500))
		}
		mustSay(t, a, k, "and mine")
		want := 11 * (round + 1)
		if n := len(log(t, a, k)); n != want {
			t.Fatalf("round %d: %d turns, want %d", round, n, want)
		}
		if problems, err := b.Check(t.Context()); err != nil || len(problems) > 0 {
			t.Fatalf("round %d: %v, %v", round, problems, err)
		}
	}
}

// TestAHookThatEndsItsGoroutine: it ends its caller's, whoever runs it, and everybody else is answered as ever, once.
func TestAHookThatEndsItsGoroutine(t *testing.T) {
	for name, others := range map[string]int{"the round is in flight": 3, "nobody waits behind the round": 1} {
		t.Run(name, func(t *testing.T) {
			s := openNew(t, sqlite.Config{GroupCommit: 2})
			k := create(t, s, key("s")).Key
			var hooked atomic.Int32
			mark := func(name string, hook func()) func() error {
				return survive(func() error {
					return s.Update(t.Context(), func(tx store.Tx) error {
						tx.AfterCommit(func() { hooked.Add(1); hook() })
						return tx.Log().InsertBookmark(t.Context(), k, turn.Bookmark{Name: name, At: tx.Now()})
					})
				})
			}
			updates := []func() error{mark("exits", runtime.Goexit)}
			for i := range others {
				updates = append(updates, mark(fmt.Sprint(i), func() {}))
			}
			for i, err := range holding(t, s, updates...) {
				if i == 0 && !errors.Is(err, errExited) || i > 0 && err != nil {
					t.Errorf("update %d: %v", i, err)
				}
			}
			if got := int(hooked.Load()); got != 1+others {
				t.Errorf("%d hooks were run, want %d", got, 1+others)
			}
		})
	}
}
