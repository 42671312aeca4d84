package turnstone_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/bus/inproc"
	"github.com/turnstone-dev/turnstone/bus/natsbus"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/natstest"
	"github.com/turnstone-dev/turnstone/internal/pgtest/pgstore"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// onEachDatabase runs a test with a way to open stores on one database, as processes do.
func onEachDatabase(t *testing.T, test func(t *testing.T, open func() store.Store)) {
	opened := func(t *testing.T, st store.Store, err error) store.Store {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	t.Run("SQLite", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "store.db")
		test(t, func() store.Store {
			st, err := sqlite.Open(t.Context(), path, sqlite.Config{})
			return opened(t, st, err)
		})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		url := pgstore.URL(t)
		test(t, func() store.Store {
			st, err := postgres.Open(t.Context(), url, postgres.Config{})
			return opened(t, st, err)
		})
	})
}

// onNATS is the bus on a NATS server.
func onNATS(t *testing.T, s *natstest.Server) turnstone.NewBus {
	t.Helper()
	nc, err := nats.Connect(s.URL(), nats.MaxReconnects(-1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return func(bodies bus.Bodies, recorder bus.Recorder) (bus.Bus, error) {
		return natsbus.New(context.WithoutCancel(t.Context()), nc, bodies, recorder, natsbus.Config{})
	}
}

// logLines is a log that is waited for.
type logLines chan string

func (l logLines) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

// heardBy has a daemon of the engine tell the ids that it hears of.
func heardBy(t *testing.T, eng *turnstone.Engine, daemon string) <-chan string {
	t.Helper()
	heard := make(chan string, 1000)
	_, err := eng.Subscribe(t.Context(), daemon, func(_ context.Context, m event.Message) (int, error) {
		heard <- m.ID
		return 1, nil
	}, bus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return heard
}

// all waits until a daemon has heard of exports, in whatever order.
func all(t *testing.T, heard <-chan string, want []string) {
	t.Helper()
	missing := slices.Clone(want)
	for late := time.After(2 * time.Minute); len(missing) > 0; {
		select {
		case id := <-heard:
			missing = slices.DeleteFunc(missing, func(other string) bool { return other == id })
		case <-late:
			t.Fatalf("nothing was heard of %d of %d: %v", len(missing), len(want), missing)
		}
	}
}

// What is committed anywhere reaches the daemons behind NATS, however many engines without a bus are open on the store and
// publish.
func TestExportsOfEveryEngineReachNATS(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, openStore func() store.Store) {
		log := make(logLines, 10)
		far := open(t, openStore(), turnstone.Config{Bus: onNATS(t, natstest.Start(t))})
		near := open(t, openStore(), turnstone.Config{Log: slog.NewTextHandler(log, nil)})
		if line := <-log; !strings.Contains(line, "another bus publishes the exports of the store") || !strings.Contains(line, "bus=nats") {
			t.Errorf("the log says %s", line)
		}
		heard, inside := heardBy(t, far, "far"), heardBy(t, near, "near")
		var want []string
		for n := range 10 {
			for i, eng := range []*turnstone.Engine{far, near} {
				want = append(want, commitText(t, session(t, eng, fmt.Sprint("s", i)), fmt.Sprint(n)).ExportID)
				if err := near.Publish(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			passing, err := turnstone.Open(t.Context(), openStore(), turnstone.Config{}) // as a command of the command line
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, commitText(t, session(t, passing, "passing"), fmt.Sprint(n)).ExportID)
			if err := passing.Close(); err != nil {
				t.Fatal(err)
			}
		}
		all(t, heard, want)
		all(t, inside, want) // what the other relay noted as published
	})
}

// While NATS is away nothing on the store clears the queue.
func TestExportsWaitForNATSBesideOtherEngines(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, openStore func() store.Store) {
		server := natstest.Start(t)
		far := open(t, openStore(), turnstone.Config{Bus: onNATS(t, server)})
		near := open(t, openStore(), turnstone.Config{})
		heard := heardBy(t, far, "far")
		server.Stop()
		var want []string
		for i, eng := range []*turnstone.Engine{far, near} {
			want = append(want, commitText(t, session(t, eng, fmt.Sprint("s", i)), "one").ExportID)
		}
		if err := near.Publish(t.Context()); err != nil {
			t.Fatal(err)
		}
		if name, waiting, err := near.Publisher(t.Context()); name != "nats" || waiting != 2 || err != nil {
			t.Errorf("%d wait for %q, %v", waiting, name, err)
		}
		server.Restart()
		all(t, heard, want)
	})
}

// The bus inside the process takes the store over only where it is given.
func TestTheWayBackFromNATS(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, openStore func() store.Store) {
		publisher := func(eng *turnstone.Engine, want string) {
			t.Helper()
			if name, _, err := eng.Publisher(t.Context()); name != want || err != nil {
				t.Errorf("%q publishes, %v; want %q", name, err, want)
			}
		}
		near := open(t, openStore(), turnstone.Config{})
		publisher(near, "")
		far, err := turnstone.Open(t.Context(), openStore(), turnstone.Config{Bus: onNATS(t, natstest.Start(t))})
		if err != nil {
			t.Fatal(err)
		}
		publisher(near, "nats")
		if err := far.Close(); err != nil {
			t.Fatal(err)
		}
		publisher(open(t, openStore(), turnstone.Config{}), "nats")
		waits := commitText(t, session(t, near, "s"), "one").ExportID
		heard := heardBy(t, near, "near")
		st := openStore()
		back := open(t, st, turnstone.Config{Bus: func(bodies bus.Bodies, recorder bus.Recorder) (bus.Bus, error) {
			return inproc.New(st, bodies, recorder, inproc.Config{}), nil
		}})
		publisher(back, "")
		all(t, heard, []string{waits})
	})
}

// unwritable is a store that can only be read.
type unwritable struct{ store.Store }

func (unwritable) Update(context.Context, func(store.Tx) error) error { return store.ErrReadOnly }

func (unwritable) Publish(context.Context, int, store.Publication) (int, error) {
	return 0, store.ErrReadOnly
}

// On a store that can only be read nobody publishes, so that a bus need not take it over.
func TestABusOnAStoreThatIsOnlyRead(t *testing.T) {
	eng := open(t, unwritable{mem.New(mem.Config{})}, turnstone.Config{Bus: onNATS(t, natstest.Start(t))})
	if name, _, err := eng.Publisher(t.Context()); name != "" || err != nil {
		t.Errorf("%q publishes, %v", name, err)
	}
}
