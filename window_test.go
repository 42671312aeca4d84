package turnstone_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// counting tells how often the store was read.
// counting counts the views that read the log: what runs in the background looks at other things.
type counting struct {
	store.Store
	mu    sync.Mutex // guards views
	views int
}

func (c *counting) View(ctx context.Context, fn func(store.Tx) error) error {
	return c.Store.View(ctx, func(tx store.Tx) error { return fn(&logView{Tx: tx, counting: c}) })
}

type logView struct {
	store.Tx
	counting *counting
	counted  bool
}

func (v *logView) Log() turn.Rows {
	if !v.counted {
		v.counted = true
		v.counting.mu.Lock()
		v.counting.views++
		v.counting.mu.Unlock()
	}
	return v.Tx.Log()
}

func TestWindowIsReadOnceAndThenFollowsAppends(t *testing.T) {
	st := &counting{Store: mem.New(mem.Config{})}
	eng := open(t, st, turnstone.Config{})
	s := session(t, eng, "a")
	for i := range 9 {
		say(t, s, turn.User, fmt.Sprint(i))
	}
	if _, err := s.Window(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := st.views
	say(t, s, turn.Agent, "9")
	window, err := s.Window(t.Context())
	if err != nil || texts(window) != "3|4|5|6|7|8|9" {
		t.Fatalf("window %s, %v", texts(window), err)
	}
	short, err := s.History(t.Context(), turn.HistoryOptions{Turns: 2})
	if err != nil || texts(short) != "8|9" {
		t.Fatalf("short history %s, %v", texts(short), err)
	}
	if st.views != before {
		t.Fatalf("%d reads of the store, want none: the window is kept ready", st.views-before)
	}
	longer := append(short, turn.Turn{Content: turn.Text{Text: "mine"}})
	say(t, s, turn.User, "10")
	if texts(window) != "3|4|5|6|7|8|9" || texts(longer) != "8|9|mine" {
		t.Fatalf("what was returned changed to %s and %s", texts(window), texts(longer))
	}
	if again, _ := s.Window(t.Context()); texts(again) != "4|5|6|7|8|9|10" {
		t.Fatalf("window %s", texts(again))
	}
	if n := testing.AllocsPerRun(100, func() {
		if _, err := s.Window(t.Context()); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations to read the window", n)
	}
}

func TestWindowsAreBounded(t *testing.T) {
	st := &counting{Store: mem.New(mem.Config{})}
	eng := open(t, st, turnstone.Config{Windows: 2})
	for i := range 6 {
		s := session(t, eng, fmt.Sprint("s", i))
		say(t, s, turn.User, fmt.Sprint(i))
		if _, err := s.Window(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 6 {
		s := session(t, eng, fmt.Sprint("s", i))
		say(t, s, turn.Agent, "more")
		window, err := s.Window(t.Context())
		if want := fmt.Sprintf("%d|more", i); err != nil || texts(window) != want {
			t.Fatalf("window of session %d is %s, %v; want %s", i, texts(window), err, want)
		}
	}
}

func TestLargeWindowsAreNotKept(t *testing.T) {
	st := &counting{Store: mem.New(mem.Config{})}
	eng := open(t, st, turnstone.Config{})
	s := session(t, eng, "a")
	for _, size := range []int{10, 1 << 20} {
		say(t, s, turn.User, strings.Repeat("x", size))
		for range 2 {
			if window, err := s.Window(t.Context()); err != nil || len(window[len(window)-1].Content.Searchable()) != size {
				t.Fatalf("window of %d turns, %v", len(window), err)
			}
		}
	}
	if st.views != 1+1+2 { // Find, the first fill, and twice what is too large
		t.Errorf("%d reads of the store", st.views)
	}
}

func TestWindowIsExactUnderConcurrentAppends(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	s := session(t, eng, "a")
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 50 {
				if _, err := s.Append(t.Context(), turn.Draft{Role: turn.User, Content: turn.Text{Text: fmt.Sprint(w, i)}}); err != nil {
					t.Error(err)
				}
				if _, err := s.Window(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	window, err := s.Window(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	long, err := s.History(t.Context(), turn.HistoryOptions{Turns: 8})
	if err != nil || texts(window) != texts(long[1:]) {
		t.Fatalf("window %s, history %s, %v", texts(window), texts(long[1:]), err)
	}
}

func TestWindowFollowsAnotherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shared.db")
	engines := make([]*turnstone.Session, 2)
	for i := range engines {
		st, err := sqlite.Open(t.Context(), path, sqlite.Config{})
		if err != nil {
			t.Fatal(err)
		}
		engines[i] = session(t, open(t, st, turnstone.Config{}), "a")
	}
	mine, theirs := engines[0], engines[1]
	say(t, mine, turn.User, "mine")
	if window, err := mine.Window(t.Context()); err != nil || texts(window) != "mine" {
		t.Fatalf("window %s, %v", texts(window), err)
	}
	say(t, theirs, turn.User, "theirs")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for {
		window, err := mine.Window(ctx)
		if err != nil {
			t.Fatalf("the other process's turn never came: %v", err)
		}
		if texts(window) == "mine|theirs" {
			return
		}
	}
}
