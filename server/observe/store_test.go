package observe_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/server/observe"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

func nothing(store.Tx) error { return nil }

// A store is ready while it takes updates. One that failed for a reason that stays counts for some seconds, and what nobody
// writes to is tried every few seconds at most.
func TestAStoreIsReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		under := faulty.New(mem.New(mem.Config{}))
		st := observe.NewStore(under)
		probes := 0
		broken := func(err error) {
			under.Set(func(at string) error {
				if at != "begin" {
					return nil
				}
				probes++
				return err
			})
		}
		ready := func(want error) {
			t.Helper()
			if err := st.Ready(t.Context()); !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
		}
		broken(nil)
		for range 10 {
			ready(nil)
		}
		if probes != 1 {
			t.Errorf("%d probes", probes)
		}
		for _, why := range []error{store.ErrFull, store.ErrReadOnly, store.ErrRemoved, store.ErrLocked, store.ErrUnavailable} {
			time.Sleep(3 * time.Second)
			broken(fmt.Errorf("append: %w", why))
			ready(why) // nobody else wrote
			broken(nil)
			time.Sleep(3 * time.Second)
			ready(nil)
		}
		broken(fmt.Errorf("append: %w", store.ErrFull))
		if err := st.Update(t.Context(), nothing); !errors.Is(err, store.ErrFull) {
			t.Error(err)
		}
		broken(nil) // there is room for a probe
		ready(store.ErrFull)
		time.Sleep(5 * time.Second)
		ready(nil)
		if err := st.Close(); err != nil {
			t.Error(err)
		}
		time.Sleep(3 * time.Second)
		ready(store.ErrClosed)
	})
}

// A store that does not answer is not waited for, and not asked again meanwhile.
func TestAStoreThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		under := faulty.New(mem.New(mem.Config{}))
		st := observe.NewStore(under)
		var probes atomic.Int64
		goOn := make(chan struct{})
		under.Set(func(at string) error {
			if at == "begin" {
				probes.Add(1)
				<-goOn
				return store.ErrLocked
			}
			return nil
		})
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			if err := st.Ready(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			cancel()
		}
		if n := probes.Load(); n != 1 {
			t.Errorf("%d probes", n)
		}
		close(goOn)
		if err := st.Close(); err != nil {
			t.Error(err)
		}
		if err := st.Ready(t.Context()); !errors.Is(err, store.ErrLocked) {
			t.Error(err)
		}
	})
}

// A probe writes to the disk, and leaves nothing in the store.
func TestAProbeIsWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	under, err := sqlite.Open(t.Context(), path, sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	st := observe.NewStore(under)
	log := func() []byte {
		data, err := os.ReadFile(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	rows := func() (n int) {
		err := st.Dump(t.Context(), func(store.Row) error { n++; return nil })
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	had, before := rows(), log()
	if err := st.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(before, log()) || rows() != had {
		t.Errorf("written: %v; %d rows, %d before", !bytes.Equal(before, log()), rows(), had)
	}
	if err := st.Close(); err != nil {
		t.Error(err)
	}
}
