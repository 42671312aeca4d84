package postgres_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/internal/leaktest"
	"github.com/turnstone-dev/turnstone/internal/pgtest/pgstore"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestCloseLeavesNothingRunning(t *testing.T) {
	address := pgstore.URL(t)
	before := goleak.IgnoreCurrent()
	s, err := postgres.Open(t.Context(), with(t, address, parameter("application_name", t.Name())), postgres.Config{})
	if err != nil {
		t.Fatal(err)
	}
	k := create(t, s, "busy")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if _, err := try(t.Context(), s, k, said("hello")); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	leaktest.None(t, before)
	admin := connect(t, address)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for ask[int](t, admin, `SELECT count(*) FROM pg_stat_activity WHERE application_name = $1`, t.Name()) > 0 {
		<-tick.C // the server takes a moment to notice
	}
}

func TestCloseWaitsForWhatIsRunning(t *testing.T) {
	s := open(t, pgstore.URL(t), postgres.Config{})
	k := create(t, s, "slow")
	sealed, err := seal(said("hello"))
	if err != nil {
		t.Fatal(err)
	}
	begun, closed := make(chan struct{}), make(chan error, 1)
	go func() {
		<-begun
		closed <- s.Close()
	}()
	err = s.Update(t.Context(), func(tx store.Tx) error {
		close(begun)
		// New transactions are refused from the moment on that Close was called.
		for {
			err := s.View(t.Context(), func(store.Tx) error { return nil })
			if errors.Is(err, store.ErrClosed) {
				break
			}
			if err != nil {
				return err
			}
		}
		_, err := turn.Append(t.Context(), tx.Log(), k, tx.Now(), sealed...)
		return err
	})
	if err != nil {
		t.Errorf("an update that ran when the store was closed: %v", err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	l := s.Light()
	_, _, retrieve := l.Retrieve(t.Context(), lightKey("s"))
	_, tables := s.Tables(t.Context())
	for name, err := range map[string]error{
		"store": l.Store(t.Context(), lightKey("s"), dialogue.LightContext{}), "retrieve": retrieve,
		"clear": l.Clear(t.Context(), lightKey("s")), "tables": tables,
	} {
		if !errors.Is(err, store.ErrClosed) {
			t.Errorf("%s: got %v, want %v", name, err, store.ErrClosed)
		}
	}
}
