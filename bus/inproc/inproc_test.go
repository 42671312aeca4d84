package inproc_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/bus/bustest"
	"github.com/turnstone-dev/turnstone/bus/inproc"
	"github.com/turnstone-dev/turnstone/internal/litetest"
	"github.com/turnstone-dev/turnstone/internal/pgtest/pgstore"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

var errKilled = errors.New("the process is dead")

// mortal is a store as a process sees it that may die: nothing it writes after that is kept.
type mortal struct {
	store.Store
	dead atomic.Bool
}

func (m *mortal) Update(ctx context.Context, fn func(store.Tx) error) error {
	return m.Store.Update(ctx, func(tx store.Tx) error {
		if m.dead.Load() {
			return errKilled
		}
		return fn(tx)
	})
}

func place(t *testing.T, st store.Store) bustest.Place {
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return bustest.Place{
		Store: st,
		Open: func(_ *testing.T, bodies bus.Bodies, rec bus.Recorder) (bus.Bus, func()) {
			m := &mortal{Store: st}
			b := inproc.New(m, bodies, rec, inproc.Config{Lease: 2 * time.Second, Poll: 5 * time.Millisecond})
			return b, func() { m.dead.Store(true) }
		},
	}
}

func TestMem(t *testing.T) {
	bustest.Run(t, func(t *testing.T) bustest.Place { return place(t, mem.New(mem.Config{})) })
}

func TestSQLite(t *testing.T) {
	bustest.Run(t, func(t *testing.T) bustest.Place {
		st, err := sqlite.Open(t.Context(), litetest.File(t, filepath.Join(t.TempDir(), "bus.db")), sqlite.Config{})
		if err != nil {
			t.Fatal(err)
		}
		return place(t, st)
	})
}

func TestPostgres(t *testing.T) {
	bustest.Run(t, func(t *testing.T) bustest.Place {
		st, err := postgres.Open(t.Context(), pgstore.URL(t), postgres.Config{})
		if err != nil {
			t.Fatal(err)
		}
		return place(t, st)
	})
}
