package postgres_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/internal/pgtest/pgstore"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/turn"
)

// At most as many round trips as BEGIN, the lock and COMMIT need.
func TestRoundTrips(t *testing.T) {
	alone(t)
	line, address := newProxy(t, pgstore.URL(t))
	s := open(t, address, postgres.Config{MaxConns: 1})
	now := time.Now()
	local := open(t, address, postgres.Config{MaxConns: 1, Clock: func() time.Time { return now }})
	k := create(t, s, "short")
	keyed := func() turn.Draft {
		d := said("once")
		d.IdempotencyKey = newIDs.Next(now)
		return d
	}
	look := func(s store.Store) {
		err := s.View(t.Context(), func(tx store.Tx) error {
			_, err := tx.Log().Session(t.Context(), k)
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	lease := func(s store.Store) {
		sealed, err := seal(said("held"))
		if err != nil {
			t.Fatal(err)
		}
		err = s.Update(t.Context(), func(tx store.Tx) error {
			if _, err := turn.Acquire(t.Context(), tx.Log(), k, "token", tx.Now()); err != nil {
				return err
			}
			_, err := turn.Append(t.Context(), tx.Log(), k, tx.Now(), sealed...)
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	for _, test := range []struct {
		name string
		do   func()
		want int64
	}{
		{"append", func() { mustAppend(t, s, k, said("hello")) }, 3},
		{"append of five", func() { mustAppend(t, s, k, said("1"), said("2"), said("3"), said("4"), said("5")) }, 3},
		{"append with an idempotency key", func() { mustAppend(t, s, k, keyed()) }, 4},
		{"append under a lease", func() { lease(s) }, 4},
		{"append by the program's clock", func() { mustAppend(t, local, k, said("hello")) }, 2},
		{"view", func() { look(s) }, 2},
		{"nothing", func() {
			if err := local.Update(t.Context(), func(store.Tx) error { return nil }); err != nil {
				t.Error(err)
			}
		}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			// A statement is prepared the first time, and at times the index is filled beside it.
			least := line.count(test.do)
			for range 5 {
				least = min(least, line.count(test.do))
			}
			if least != test.want {
				t.Errorf("%d round trips, want %d", least, test.want)
			}
		})
	}
}

// A connection that breaks before COMMIT was sent costs nothing but time.
// With a clock of its own an update may queue all it writes and wait for no answer before COMMIT.
func TestUpdateThatWaitsForNoAnswerIsWritten(t *testing.T) {
	s := open(t, pgstore.URL(t), postgres.Config{Clock: time.Now})
	k := create(t, s, "a")
	err := s.Update(t.Context(), func(tx store.Tx) error {
		return tx.Log().InsertCompletedFlow(t.Context(), k.Tenant, 1, "flow", 0)
	})
	if err != nil {
		t.Fatal(err)
	}
	err = s.View(t.Context(), func(tx store.Tx) error {
		flows, err := tx.Log().CompletedFlows(t.Context(), k.Tenant, turn.Span{Segment: 1, To: 9})
		if err == nil && len(flows) != 1 {
			t.Errorf("%d completed flows, want the one that was written", len(flows))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestUpdateIsRepeatedOnANewConnection(t *testing.T) {
	line, address := newProxy(t, pgstore.URL(t))
	s := open(t, address, postgres.Config{})
	k := create(t, s, "shaky")
	sealed, err := seal(said("hello"))
	if err != nil {
		t.Fatal(err)
	}
	runs, told := 0, 0
	err = s.Update(t.Context(), func(tx store.Tx) error {
		tx.AfterCommit(func() { told++ })
		if runs++; runs == 1 {
			line.hangUp()
		}
		_, err := turn.Append(t.Context(), tx.Log(), k, tx.Now(), sealed...)
		return err
	})
	if err != nil || runs != 2 || told != 1 {
		t.Errorf("error %v, ran %d times, told %d times; want none, 2 and 1", err, runs, told)
	}
	if n := len(log(t, s, k)); n != 1 {
		t.Errorf("%d turns, want 1", n)
	}
}

// The error counts that took the transaction away, not what the function made of it.
func TestUpdateIsRepeatedWhateverItsFunctionSays(t *testing.T) {
	for name, said := range map[string]error{"nothing": nil, "something else": errors.New("no luck")} {
		t.Run(name, func(t *testing.T) {
			line, address := newProxy(t, pgstore.URL(t))
			s := open(t, address, postgres.Config{})
			k := create(t, s, "shaky")
			runs := 0
			err := s.Update(t.Context(), func(tx store.Tx) error {
				if runs++; runs > 1 {
					return nil
				}
				line.hangUp()
				if _, err := tx.Log().LockSession(t.Context(), k); !errors.Is(err, store.ErrUnavailable) {
					t.Errorf("got %v, want %v", err, store.ErrUnavailable)
				}
				return said
			})
			if err != nil || runs != 2 {
				t.Errorf("error %v, ran %d times", err, runs)
			}
		})
	}
}

func TestUpdateGivesUpInTheEnd(t *testing.T) {
	line, address := newProxy(t, pgstore.URL(t))
	s := open(t, address, postgres.Config{RetryFor: 50 * time.Millisecond})
	k := create(t, s, "shaky")
	runs := 0
	err := s.Update(t.Context(), func(tx store.Tx) error {
		runs++
		line.hangUp()
		_, err := tx.Log().LockSession(t.Context(), k)
		return err
	})
	if !errors.Is(err, store.ErrUnavailable) || runs < 2 {
		t.Errorf("got %v after %d runs, want %v after some", err, runs, store.ErrUnavailable)
	}
}

// While COMMIT is on its way nobody can know: the update is reported, not repeated.
func TestLostCommitIsUnknown(t *testing.T) {
	for _, test := range []struct {
		name string
		cut  int32
		want int
	}{
		{"COMMIT did not arrive", cutQuestion, 0},
		{"COMMIT was carried out", cutAnswer, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			line, address := newProxy(t, pgstore.URL(t))
			s := open(t, address, postgres.Config{})
			warm := create(t, s, "warm")
			mustAppend(t, s, warm, said("hello"))
			k := create(t, s, "unlucky")
			sealed, err := seal(said("hello"))
			if err != nil {
				t.Fatal(err)
			}
			runs, told := 0, 0
			err = s.Update(t.Context(), func(tx store.Tx) error {
				runs++
				tx.AfterCommit(func() { told++ })
				_, err := turn.Append(t.Context(), tx.Log(), k, tx.Now(), sealed...)
				line.cut.Store(test.cut)
				return err
			})
			if !errors.Is(err, store.ErrUnknown) || runs != 1 || told != 0 {
				t.Errorf("error %v, ran %d times, told %d times; want %v, 1 and 0", err, runs, told, store.ErrUnknown)
			}
			if n := len(log(t, s, k)); n != test.want {
				t.Errorf("%d turns, want %d", n, test.want)
			}
		})
	}
}

// A connection that broke while nobody used it is not noticed by who takes it.
func TestViewTakesAnotherConnection(t *testing.T) {
	line, address := newProxy(t, pgstore.URL(t))
	s := open(t, address, postgres.Config{})
	k := create(t, s, "shaky")
	line.hangUp()
	runs := 0
	err := s.View(t.Context(), func(tx store.Tx) error {
		runs++
		_, err := tx.Log().Session(t.Context(), k)
		return err
	})
	if err != nil || runs != 1 {
		t.Errorf("error %v, ran %d times", err, runs)
	}
	// Once something was read, the snapshot is gone with its connection.
	err = s.View(t.Context(), func(tx store.Tx) error {
		if _, err := tx.Log().Session(t.Context(), k); err != nil {
			return err
		}
		line.hangUp()
		_, err := tx.Log().Session(t.Context(), k)
		return err
	})
	if !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("got %v, want %v", err, store.ErrUnavailable)
	}
}

func TestViewSeesOneState(t *testing.T) {
	s := open(t, pgstore.URL(t), postgres.Config{})
	k := create(t, s, "busy")
	err := s.View(t.Context(), func(tx store.Tx) error {
		before, err := tx.Log().Session(t.Context(), k)
		if err != nil {
			return err
		}
		mustAppend(t, s, k, said("meanwhile"))
		after, err := tx.Log().Session(t.Context(), k)
		if err != nil {
			return err
		}
		turns, err := tx.Log().Scan(t.Context(), k.Tenant, turn.Span{Segment: after.Segment, From: 1, To: 100}, turn.RowFilter{}, 10)
		if before.Head != 0 || after.Head != 0 || len(turns) != 0 {
			t.Errorf("heads %d and %d, %d turns; want none", before.Head, after.Head, len(turns))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// Two updates that lock two sessions crosswise: PostgreSQL ends one of them, which is run again.
func TestDeadlockIsRepeated(t *testing.T) {
	s := open(t, pgstore.URL(t), postgres.Config{})
	a, b := create(t, s, "a"), create(t, s, "b")
	var both, group sync.WaitGroup
	both.Add(2)
	for _, keys := range [][2]turn.Key{{a, b}, {b, a}} {
		sealed, err := seal(said("one"), said("two"))
		if err != nil {
			t.Fatal(err)
		}
		var once sync.Once
		group.Go(func() {
			err := s.Update(t.Context(), func(tx store.Tx) error {
				if _, err := turn.Append(t.Context(), tx.Log(), keys[0], tx.Now(), sealed[0]); err != nil {
					return err
				}
				once.Do(func() { both.Done(); both.Wait() })
				_, err := turn.Append(t.Context(), tx.Log(), keys[1], tx.Now(), sealed[1])
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for _, k := range []turn.Key{a, b} {
		if n := len(log(t, s, k)); n != 2 {
			t.Errorf("session %s has %d turns, want 2", k.Session, n)
		}
	}
}

func TestLockIsNotWaitedForForEver(t *testing.T) {
	s := open(t, pgstore.URL(t), postgres.Config{LockTimeout: 20 * time.Millisecond, RetryFor: time.Millisecond})
	k := create(t, s, "held")
	err := s.Update(t.Context(), func(tx store.Tx) error {
		if _, err := tx.Log().LockSession(t.Context(), k); err != nil {
			return err
		}
		if _, err := try(t.Context(), s, k, said("hello")); !errors.Is(err, store.ErrLocked) {
			t.Errorf("got %v, want %v", err, store.ErrLocked)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A process that stops in the middle of an update loses the session's lock after a while. One that
// comes back finds its transaction gone and runs it again.
func TestStoppedUpdateLosesItsLock(t *testing.T) {
	address := pgstore.URL(t)
	s := open(t, address, postgres.Config{}) // makes the tables in peace
	slow := open(t, with(t, address, parameter("idle_in_transaction_session_timeout", "500")), postgres.Config{})
	k := create(t, s, "held")
	sealed, err := seal(said("second"))
	if err != nil {
		t.Fatal(err)
	}
	runs := 0
	err = slow.Update(t.Context(), func(tx store.Tx) error {
		if _, err := tx.Log().LockSession(t.Context(), k); err != nil {
			return err
		}
		if runs++; runs == 1 {
			mustAppend(t, s, k, said("first"))
		}
		_, err := turn.Append(t.Context(), tx.Log(), k, tx.Now(), sealed...)
		return err
	})
	// Who is slow loses its lock once more, and runs again.
	if err != nil || runs < 2 {
		t.Errorf("error %v, ran %d times; want none and 2 or more", err, runs)
	}
	if turns := log(t, s, k); len(turns) != 2 || turns[1].Content.Searchable() != "second" {
		t.Errorf("%d turns, want 2 in order", len(turns))
	}
	// It does so without being told to.
	err = s.Connection(t.Context(), func(c *pgx.Conn) error {
		if got := ask[string](t, c, `SHOW idle_in_transaction_session_timeout`); got != "1min" {
			t.Errorf("idle_in_transaction_session_timeout is %s, want 1min", got)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A statement that is broken off leaves neither a write nor a connection behind that does harm.
func TestCancelledUpdateLeavesNothing(t *testing.T) {
	s := open(t, pgstore.URL(t), postgres.Config{MaxConns: 2})
	k := create(t, s, "held")
	locked, cancelled := make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() {
		err := s.Update(t.Context(), func(tx store.Tx) error {
			_, err := tx.Log().LockSession(t.Context(), k)
			close(locked)
			<-cancelled
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-locked
	group.Go(func() {
		time.AfterFunc(20*time.Millisecond, cancel)
		if _, err := try(ctx, s, k, said("never")); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
		close(cancelled)
	})
	group.Wait()
	mustAppend(t, s, k, said("hello"))
	if turns := log(t, s, k); len(turns) != 1 {
		t.Errorf("%d turns, want 1", len(turns))
	}
}
