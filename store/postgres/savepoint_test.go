package postgres_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/internal/pgtest/pgstore"
	"github.com/turnstone-dev/turnstone/internal/span"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/turn"
)

func goal(id string, version int64) cortex.Row {
	return cortex.Row{Kind: cortex.KindGoal, ID: id, Version: version, Live: true, Doc: `{}`, Change: `{}`}
}

// goals returns the ids and versions of the goals of segment 1.
func goals(t testing.TB, s store.Store) (list []string) {
	t.Helper()
	err := s.View(t.Context(), func(tx store.Tx) error {
		rows, err := tx.Cortex().Newest(t.Context(), "default", []span.Span{{Segment: 1, To: 9}}, false)
		for _, r := range rows {
			list = append(list, fmt.Sprintf("%s/%d", r.ID, r.Version))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// An error that comes up when the queue is sent belongs to whoever queued the statement, and what was
// queued before the savepoint stays.
func TestSavepointMeetsErrorsOfTheQueue(t *testing.T) {
	for name, config := range map[string]postgres.Config{"clock of the database": {}, "BEGIN in the same queue": {Clock: time.Now}} {
		t.Run(name, func(t *testing.T) {
			s := open(t, pgstore.URL(t), config)
			insert := func(tx store.Tx, goals ...cortex.Row) error {
				for _, g := range goals {
					if err := tx.Cortex().InsertVersion(t.Context(), "default", 1, g); err != nil {
						return err
					}
				}
				return nil
			}
			err := s.Update(t.Context(), func(tx store.Tx) error {
				return insert(tx, goal("taken", 1))
			})
			if err != nil {
				t.Fatal(err)
			}
			err = s.Update(t.Context(), func(tx store.Tx) error {
				if err := tx.Scratch().PutObservation(t.Context(), "default", 1, scratch.Row{ID: "before"}); err != nil {
					return err
				}
				err := tx.Savepoint(t.Context(), func() error { return insert(tx, goal("undone", 1), goal("taken", 1)) })
				if !errors.Is(err, cortex.ErrStale) || !strings.Contains(err.Error(), "version 1 of goal taken") {
					t.Errorf("got %v, want %v that says of what", err, cortex.ErrStale)
				}
				return tx.Savepoint(t.Context(), func() error { return insert(tx, goal("after", 1)) })
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(goals(t, s), " "); got != "after/1 taken/1" {
				t.Errorf("goals %s, want those before and after", got)
			}
			err = s.View(t.Context(), func(tx store.Tx) error {
				_, ok, err := tx.Scratch().Observation(t.Context(), "default", 1, "before")
				if err == nil && !ok {
					t.Error("what was queued before the savepoint is gone")
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// What was queued before a savepoint is not undone with it, so its error cannot be either.
func TestSavepointCannotUndoWhatCameBefore(t *testing.T) {
	alone(t)
	s := open(t, pgstore.URL(t), postgres.Config{})
	k := create(t, s, "doomed")
	first := mustAppend(t, s, k, said("first"))
	again := said("second")
	again.ID = first[0].ID
	sealed, err := seal(again)
	if err != nil {
		t.Fatal(err)
	}
	err = s.Update(t.Context(), func(tx store.Tx) error {
		if _, err := turn.Append(t.Context(), tx.Log(), k, tx.Now(), sealed...); err != nil {
			return err
		}
		inside := tx.Savepoint(t.Context(), func() error {
			return tx.Cortex().InsertVersion(t.Context(), "default", 1, goal("g", 1))
		})
		if !errors.Is(inside, turn.ErrConflict) {
			t.Errorf("in the savepoint: %v, want %v", inside, turn.ErrConflict)
		}
		return nil
	})
	if !errors.Is(err, turn.ErrConflict) {
		t.Errorf("update: %v, want %v", err, turn.ErrConflict)
	}
	if got := goals(t, s); len(got) != 0 {
		t.Errorf("goals %v, want none", got)
	}
}

// With what a savepoint appended goes what the transaction knew of the session by it.
func TestSavepointForgetsWhatItAppended(t *testing.T) {
	alone(t)
	s := open(t, pgstore.URL(t), postgres.Config{})
	k := create(t, s, "again")
	boom := errors.New("boom")
	appended := func(tx store.Tx, text string) error {
		sealed, err := seal(said(text))
		if err != nil {
			return err
		}
		_, err = turn.Append(t.Context(), tx.Log(), k, tx.Now(), sealed...)
		return err
	}
	err := s.Update(t.Context(), func(tx store.Tx) error {
		if err := appended(tx, "first"); err != nil {
			return err
		}
		for _, read := range []bool{false, true} {
			err := tx.Savepoint(t.Context(), func() error {
				if err := appended(tx, "undone"); err != nil {
					return err
				}
				if read { // it is sent then, and not only queued
					if _, err := tx.Log().OpenCalls(t.Context(), k.Tenant, 1); err != nil {
						return err
					}
				}
				return boom
			})
			if !errors.Is(err, boom) {
				return err
			}
		}
		return appended(tx, "second")
	})
	if err != nil {
		t.Fatal(err)
	}
	turns := log(t, s, k)
	if len(turns) != 2 || turns[1].Seq != 2 || turns[1].Content.Searchable() != "second" {
		t.Errorf("turns %v, want first and second", turns)
	}
}

// A connection that breaks inside of a savepoint takes the update with it, which is run again whole.
func TestSavepointOfALostConnection(t *testing.T) {
	line, address := newProxy(t, pgstore.URL(t))
	s := open(t, address, postgres.Config{})
	runs := 0
	err := s.Update(t.Context(), func(tx store.Tx) error {
		runs++
		err := tx.Savepoint(t.Context(), func() error {
			if runs == 1 {
				line.hangUp()
			}
			return tx.Cortex().InsertVersion(t.Context(), "default", 1, goal("g", 1))
		})
		if err != nil {
			// As a commit does with a target that cannot be written.
			return tx.Cortex().InsertVersion(t.Context(), "default", 1, goal("deferred", 1))
		}
		return nil
	})
	if err != nil || runs != 2 {
		t.Errorf("error %v, ran %d times; want none and 2", err, runs)
	}
	if got := strings.Join(goals(t, s), " "); got != "g/1" {
		t.Errorf("goals %s, want g/1", got)
	}
}

// A savepoint costs one round trip, for what it has to send, and none where there is nothing.
func TestRoundTripsOfSavepoints(t *testing.T) {
	alone(t)
	line, address := newProxy(t, pgstore.URL(t))
	now := time.Now()
	s := open(t, address, postgres.Config{MaxConns: 1, Clock: func() time.Time { return now }})
	n := int64(0)
	do := func(targets ...func(tx store.Tx) error) func() {
		return func() {
			n++
			err := s.Update(t.Context(), func(tx store.Tx) error {
				for _, target := range targets {
					if err := tx.Savepoint(t.Context(), func() error { return target(tx) }); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}
	}
	intend := func(tx store.Tx) error {
		return tx.Cortex().InsertVersion(t.Context(), "default", 1, goal("g", n))
	}
	notice := func(tx store.Tx) error {
		return tx.Scratch().PutObservation(t.Context(), "default", 1, scratch.Row{ID: fmt.Sprint(n), At: now, Expires: now})
	}
	remember := func(tx store.Tx) error {
		_, err := tx.Memory().InsertItems(t.Context(), []memory.Row{{Tenant: "default", ID: newIDs.Next(now), Created: now}})
		return err
	}
	nothing := func(store.Tx) error { return nil }
	for _, test := range []struct {
		name string
		do   func()
		want int64
	}{
		{"one that writes", do(intend), 2},
		{"one that waits for its answer", do(remember), 2},
		{"three", do(remember, intend, notice), 4},
		{"nothing", do(nothing, nothing), 0},
	} {
		t.Run(test.name, func(t *testing.T) {
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
