package turnstone_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/internal/litetest"
	"github.com/turnstone-dev/turnstone/internal/pgtest/pgstore"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// onEveryStore runs a test on an empty store of each kind.
func onEveryStore(t *testing.T, test func(t *testing.T, st store.Store)) {
	for name, open := range map[string]func(t *testing.T) (store.Store, error){
		"mem": func(*testing.T) (store.Store, error) { return mem.New(mem.Config{}), nil },
		"sqlite": func(t *testing.T) (store.Store, error) {
			return sqlite.Open(t.Context(), litetest.File(t, filepath.Join(t.TempDir(), "log.db")), sqlite.Config{})
		},
		"postgres": func(t *testing.T) (store.Store, error) {
			return postgres.Open(t.Context(), pgstore.URL(t), postgres.Config{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			st, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			test(t, st)
		})
	}
}

// snap takes a snapshot, which is an event.
func snap(t *testing.T, s *turnstone.Session, name string) {
	t.Helper()
	if _, err := s.Snapshot(t.Context(), name); err != nil {
		t.Fatal(err)
	}
}

// logged is a log that is read while it is written.
type logged struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// withoutPlace is an event as listeners are told of it, before anybody read it.
func withoutPlace(e event.Event) event.Event {
	e.Place = 0
	return e
}

func TestListenersAreToldWhatIsStored(t *testing.T) {
	onEveryStore(t, func(t *testing.T, st store.Store) {
		eng := open(t, st, turnstone.Config{})
		var told []event.Event
		over := make(chan struct{})
		eng.Listen(func(e event.Event) {
			last := ""
			if len(told) > 0 {
				last = told[len(told)-1].Cursor()
			}
			there, err := eng.Events(t.Context(), "", last, 1)
			if err != nil || len(there) != 1 || withoutPlace(there[0]) != e {
				t.Errorf("told %+v, stored is %+v, %v", e, there, err)
			}
			told = append(told, there...)
			if e.Kind == event.SessionEnded {
				close(over)
			}
		})
		s := session(t, eng, "s")
		say(t, s, turn.User, strings.Repeat("a long story ", 1000))
		snap(t, s, "one")
		p := compiled(t, s, turnstone.PromptOptions{Model: "gpt-4o"})
		if _, err := s.Reported(t.Context(), p, llm.Usage{Prompt: 1}); err != nil {
			t.Fatal(err)
		}
		snap(t, s, "two")
		stream, err := s.Streaming(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Add(t.Context(), strings.Repeat("on and on ", 200_000)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.End(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-over
		var kinds []event.Kind
		for _, e := range told {
			kinds = append(kinds, e.Kind)
		}
		want := []event.Kind{event.SnapshotCreated, event.PromptTruncated, event.SnapshotCreated, event.StreamOverflow, event.SessionEnded}
		if !slices.Equal(kinds, want) {
			t.Errorf("told %v", kinds)
		}
	})
}

func TestListenersAreToldOfTheirTenantOnly(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	other, err := eng.ForTenant("other")
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan string, 9)
	for name, e := range map[string]*turnstone.Engine{"default": eng, "other": other} {
		e.Listen(func(e event.Event) { told <- name + " hears of " + e.Tenant + "/" + e.Session })
	}
	snap(t, session(t, other, "theirs"), "")
	first := <-told
	snap(t, session(t, eng, "ours"), "")
	if got := first + ", " + <-told; got != "other hears of other/theirs, default hears of default/ours" {
		t.Error(got)
	}
}

func TestWhatIsNotStoredIsNotTold(t *testing.T) {
	boom := errors.New("boom")
	faults := faulty.New(mem.New(mem.Config{}))
	eng := open(t, faults, turnstone.Config{})
	s := session(t, eng, "s")
	told := make(chan event.Kind, 9)
	eng.Listen(func(e event.Event) { told <- e.Kind })
	faults.Set(func(point string) error {
		if point == "end" {
			return boom
		}
		return nil
	})
	_, err := s.Snapshot(t.Context(), "lost")
	if !errors.Is(err, boom) {
		t.Errorf("a snapshot that was not stored: %v", err)
	}
	faults.Set(nil)
	snap(t, s, "kept")
	if kind := <-told; kind != event.SnapshotCreated || len(told) != 0 {
		t.Errorf("told %s and %d more", kind, len(told))
	}
	if list, err := s.Snapshots(t.Context(), "", 0); err != nil || len(list) != 1 || list[0].Name != "kept" {
		t.Errorf("snapshots %+v, %v", list, err)
	}
}

// A listener that does not come back holds up neither the engine nor the others, and is told no more than fits.
func TestASlowListenerMissesEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const fit, missed = 1024, 5
		var log logged
		eng := open(t, mem.New(mem.Config{}), turnstone.Config{Log: slog.NewTextHandler(&log, nil)})
		s := session(t, eng, "s")
		release, quick := make(chan struct{}), 0
		var slow []string
		eng.Listen(func(e event.Event) {
			slow = append(slow, e.Data)
			<-release
		})
		eng.Listen(func(event.Event) { quick++ })
		for i := range 1 + fit + missed {
			snap(t, s, fmt.Sprint(i))
			synctest.Wait()
		}
		if len(slow) != 1 || quick != 1+fit+missed {
			t.Errorf("the slow one was told %d, the quick one %d", len(slow), quick)
		}
		close(release)
		synctest.Wait()
		snap(t, s, "later")
		synctest.Wait()
		if len(slow) != 1+fit+1 || !strings.Contains(slow[fit], fmt.Sprintf(`"name":"%d"`, fit)) || !strings.Contains(slow[fit+1], `"name":"later"`) {
			t.Errorf("the slow one was told %d, at last %s", len(slow), slow[len(slow)-1])
		}
		if want := fmt.Sprintf(`msg="a listener is too slow and missed events" missed=%d tenant=default`, missed); strings.Count(log.String(), want) != 1 {
			t.Errorf("logged:\n%s", &log)
		}
	})
}

func TestAListenerThatPanicsIsToldTheNext(t *testing.T) {
	var log logged
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{Log: slog.NewTextHandler(&log, nil)})
	s := session(t, eng, "s")
	told := make(chan string, 9)
	first := true
	eng.Listen(func(e event.Event) {
		if first {
			first = false
			panic("listener's own fault")
		}
		told <- e.Data
	})
	snap(t, s, "one")
	snap(t, s, "two")
	if data := <-told; !strings.Contains(data, `"name":"two"`) {
		t.Errorf("told %s", data)
	}
	for _, want := range []string{"a listener panicked", "snapshot-created", "listener's own fault", "listen_test.go"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, &log)
		}
	}
}

// In a bubble nothing may be left when the test returns: a goroutine that does not end fails it.
func TestListenersEnd(t *testing.T) {
	opened := func(t *testing.T, log *logged) (*turnstone.Engine, *turnstone.Session) {
		eng, err := turnstone.Open(t.Context(), mem.New(mem.Config{}), turnstone.Config{Log: slog.NewTextHandler(log, nil)})
		if err != nil {
			t.Fatal(err)
		}
		return eng, session(t, eng, "s")
	}
	closed := func(t *testing.T, eng *turnstone.Engine) {
		t.Helper()
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	}
	for name, test := range map[string]func(t *testing.T){
		"when they are stopped": func(t *testing.T) {
			eng, s := opened(t, &logged{})
			defer closed(t, eng)
			release, told := make(chan struct{}), 0
			stop := eng.Listen(func(event.Event) { told++; <-release })
			snap(t, s, "one")
			snap(t, s, "waits")
			synctest.Wait()
			go func() { time.Sleep(time.Minute); close(release) }()
			start := time.Now()
			stop()
			if waited := time.Since(start); waited != time.Minute || told != 1 {
				t.Errorf("stopped after %s and %d events", waited, told)
			}
			stop()
			snap(t, s, "unheard")
			synctest.Wait()
			if told != 1 {
				t.Errorf("told %d events after it was stopped", told-1)
			}
		},
		"with the engine, and hear what waits": func(t *testing.T) {
			eng, s := opened(t, &logged{})
			var told []string
			stop := eng.Listen(func(e event.Event) {
				time.Sleep(time.Second / 2)
				if told = append(told, e.Data); len(told) == 3 {
					snap(t, s, "while the engine closes") // is stored, and told to nobody
				}
			})
			for _, name := range []string{"one", "two", "three"} {
				snap(t, s, name)
			}
			closed(t, eng)
			if len(told) != 3 || !strings.Contains(told[2], `"three"`) {
				t.Errorf("told %v", told)
			}
			stop()
			eng.Listen(func(event.Event) { t.Error("told of something after the end") })()
		},
		"or are left alone": func(t *testing.T) {
			var log logged
			eng, s := opened(t, &log)
			release, told := make(chan struct{}), 0
			stop := eng.Listen(func(event.Event) { told++; <-release })
			snap(t, s, "one")
			snap(t, s, "waits")
			synctest.Wait()
			start := time.Now()
			closed(t, eng)
			if waited := time.Since(start); waited != 5*time.Second {
				t.Errorf("waited %s for a listener that does not end", waited)
			}
			if !strings.Contains(log.String(), "a listener still works on an event") {
				t.Errorf("logged:\n%s", &log)
			}
			close(release)
			stop()
			if told != 1 {
				t.Errorf("told %d more events after the end", told-1)
			}
		},
		"of themselves": func(t *testing.T) {
			eng, s := opened(t, &logged{})
			defer closed(t, eng)
			told := 0
			stop := eng.Listen(func(event.Event) { told++; runtime.Goexit() })
			snap(t, s, "one")
			snap(t, s, "two")
			synctest.Wait()
			stop()
			if told != 1 {
				t.Errorf("told %d events", told)
			}
		},
	} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
	}
}

// An engine's listeners do not hear what another engine stores, but can read it.
func TestListenersOfTwoEngines(t *testing.T) {
	engines := twoEngines(t)
	told := make(chan event.Event, 9)
	engines[0].Listen(func(e event.Event) { told <- e })
	snap(t, session(t, engines[1], "s"), "theirs")
	snap(t, session(t, engines[0], "s"), "ours")
	first := <-told
	all, err := engines[0].Events(t.Context(), "s", "", 9)
	if err != nil || len(all) != 2 || !slices.ContainsFunc(all, func(e event.Event) bool { return withoutPlace(e) == first }) || !strings.Contains(first.Data, "ours") {
		t.Errorf("told %+v; there are %v, %v", first, cmp.Diff(nil, all), err)
	}
}
