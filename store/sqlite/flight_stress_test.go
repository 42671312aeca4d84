package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/internal/litetest"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

var errRefused = errors.New("it was not to be")

// throng are callers of one store, each of whom knows what must come of what it wrote.
type throng struct {
	s *sqlite.Store
	k turn.Key
	// Flights that began and whose sync is over.
	began, over atomic.Int64

	mu    sync.Mutex
	there map[string]bool // by the names of bookmarks
	hooks map[string]int
}

// write is an update that ends in one of many ways, in itself or in its hook. It returns what becomes of the bookmark, and
// what flights it may have seen.
func (c *throng) write(ctx context.Context, name string, how int) (want error, seen int64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	hook := func() {}
	switch how {
	case 4:
		hook, want = func() { panic(errRefused) }, errRefused
	case 5:
		hook, want = runtime.Goexit, errExited
	case 6:
		hook = func() { _ = c.s.View(context.Background(), func(store.Tx) error { return nil }) }
	}
	err = survive(func() error {
		return c.s.Update(ctx, func(tx store.Tx) error {
			seen = c.began.Load()
			if how == 0 {
				tx.SyncLater()
			}
			tx.AfterCommit(func() {
				c.mu.Lock()
				c.hooks[name]++
				c.mu.Unlock()
				hook()
			})
			if err := tx.Log().InsertBookmark(ctx, c.k, turn.Bookmark{Name: name, At: tx.Now()}); err != nil {
				return err
			}
			switch how {
			case 7:
				return errRefused
			case 8:
				panic(errRefused)
			case 9:
				runtime.Goexit()
			case 10:
				cancel()
			}
			return nil
		})
	})()
	switch how {
	case 7, 8:
		want = errRefused
	case 9:
		want = errExited
	case 10:
		want = context.Canceled
	}
	return want, seen, err
}

// look is an update or a view that only reads, and may fail for it.
func (c *throng) look(ctx context.Context, how int) (want error, seen int64, err error) {
	do := c.s.View
	if how%2 == 0 {
		do = c.s.Update
	}
	if how > 12 {
		want = errRefused
	}
	err = do(ctx, func(tx store.Tx) error {
		_, err := tx.Log().Bookmarks(ctx, c.k)
		seen = c.began.Load()
		return errors.Join(err, want)
	})
	return want, seen, err
}

func (c *throng) member(t *testing.T, r *rand.Rand, me, updates int) {
	for i := range updates {
		name, how := fmt.Sprintf("%d-%d", me, i), r.IntN(15)
		ctx, cancel := context.WithCancel(context.Background())
		if r.IntN(8) == 0 {
			ctx, cancel = context.WithTimeout(ctx, time.Duration(r.IntN(2000))*time.Microsecond)
		}
		var want, err error
		var seen int64
		if how > 10 {
			want, seen, err = c.look(ctx, how)
		} else {
			want, seen, err = c.write(ctx, name, how)
		}
		left := ctx.Err() != nil && errors.Is(err, ctx.Err())
		cancel()
		if over := c.over.Load(); over < seen && !left {
			t.Errorf("%s, kind %d, was told %v in the flight %d, of which %d are over", name, how, err, seen, over)
		}
		closed := errors.Is(err, store.ErrClosed)
		if !errors.Is(err, want) && !left && !closed {
			t.Errorf("%s, kind %d: %v, want %v", name, how, err, want)
		}
		c.mu.Lock()
		c.there[name] = how < 7 && !left && !closed
		c.mu.Unlock()
		if closed {
			return
		}
	}
}

// check compares what is there with what everybody was told.
func (c *throng) check(t *testing.T, s *sqlite.Store) {
	t.Helper()
	found := make(map[string]bool)
	err := s.View(t.Context(), func(tx store.Tx) error {
		marks, err := tx.Log().Bookmarks(t.Context(), c.k)
		for _, m := range marks {
			found[m.Name] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range c.there {
		hooks := 0
		if want {
			hooks = 1
		}
		if found[name] != want || c.hooks[name] != hooks {
			t.Errorf("%s: there: %v, its hook was run %d times; want %v", name, found[name], c.hooks[name], want)
		}
	}
	if problems, err := s.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("check: %v, %v", problems, err)
	}
}

// TestAThrong: however updates end, each is answered once, with what became of it, and not before what it may have seen is
// durable; until the store is closed in the middle of it.
func TestAThrong(t *testing.T) {
	const members, updates = 24, 50
	for name, config := range map[string]sqlite.Config{
		"one by one": {GroupCommit: 1}, "two": {GroupCommit: 2}, "eight": {GroupCommit: 8}, "all": {GroupCommit: 64},
		"not synced": {GroupCommit: 64, Synchronous: sqlite.Normal},
	} {
		t.Run(name, func(t *testing.T) {
			path := litetest.File(t, filepath.Join(t.TempDir(), "test.db"))
			s := open(t, path, config)
			c := &throng{s: s, k: create(t, s, key("s")).Key, there: make(map[string]bool), hooks: make(map[string]int)}
			s.SyncFlights(func(sync func() error) error {
				c.began.Add(1)
				defer c.over.Add(1)
				return sync()
			})
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			var all sync.WaitGroup
			for me := range members {
				all.Go(func() { c.member(t, rand.New(rand.NewPCG(seed, uint64(me))), me, updates) })
			}
			eventually(t, "half of it", func() bool {
				c.mu.Lock()
				defer c.mu.Unlock()
				return len(c.there) > members*updates/2
			})
			closed(t, s)
			all.Wait()
			if config.GroupCommit == 2 && c.began.Load() == 0 {
				t.Error("nothing was in flight")
			}
			c.check(t, open(t, path, sqlite.Config{}))
		})
	}
}
