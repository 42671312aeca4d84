package mem_test

import (
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/store/storetest"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestStoreKeepsTheRulesOfTheSocket(t *testing.T) {
	storetest.Run(t, func(testing.TB) store.Store { return mem.New(mem.Config{}) })
}

func TestClockIsTheTimeOfTransactionsAndOfTheFollowUpContext(t *testing.T) {
	now := time.Date(2024, 2, 29, 13, 0, 0, 123456789, time.FixedZone("", 3600))
	s := mem.New(mem.Config{Clock: func() time.Time { return now }, LightTimeout: time.Minute})
	want := time.Date(2024, 2, 29, 12, 0, 0, 123456000, time.UTC)
	for name, begin := range map[string]func(func(store.Tx) error) error{
		"view":   func(fn func(store.Tx) error) error { return s.View(t.Context(), fn) },
		"update": func(fn func(store.Tx) error) error { return s.Update(t.Context(), fn) },
	} {
		err := begin(func(tx store.Tx) error {
			if tx.Now() != want {
				t.Errorf("%s: now is %v, want %v", name, tx.Now(), want)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	key := dialogue.LightKey{Tenant: "default", Session: "s"}
	if err := s.Light().Store(t.Context(), key, dialogue.LightContext{}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		after time.Duration
		there bool
	}{{time.Minute - 1, true}, {time.Minute, false}} {
		now = want.Add(789 + c.after)
		if _, ok, err := s.Light().Retrieve(t.Context(), key); ok != c.there || err != nil {
			t.Errorf("after %v: %v, %v; want %v", c.after, ok, err, c.there)
		}
	}
}

func TestGenerationStaysSinceNobodyElseWrites(t *testing.T) {
	s := mem.New(mem.Config{})
	for range 2 {
		if generation, ok := s.Generation(); generation != 0 || !ok {
			t.Errorf("generation %d, %v", generation, ok)
		}
		create(t, s, "s")
	}
}

// create makes a session, unless there is one.
func create(t *testing.T, s *mem.Store, session string) {
	t.Helper()
	err := s.Update(t.Context(), func(tx store.Tx) error {
		key := turn.Key{Tenant: "default", Session: session}
		if _, err := tx.Log().Session(t.Context(), key); err == nil {
			return nil
		}
		_, err := tx.Log().InsertSession(t.Context(), turn.SessionInfo{Key: key, Status: turn.Active, CreatedAt: tx.Now(), LastActivity: tx.Now()})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestWritersDoNotWaitForADump(t *testing.T) {
	s := mem.New(mem.Config{})
	create(t, s, "first")
	var seen []any
	err := s.Dump(t.Context(), func(row store.Row) error {
		seen = append(seen, row.Values[1])
		create(t, s, "second")
		return nil
	})
	if err != nil || len(seen) != 1 || seen[0] != "first" {
		t.Errorf("sessions %v, %v", seen, err)
	}
}

func TestAPanicAfterACommitKeepsNobodyWaiting(t *testing.T) {
	s := mem.New(mem.Config{})
	func() {
		defer func() {
			if got := recover(); got != "late" {
				t.Errorf("recovered %v", got)
			}
		}()
		err := s.Update(t.Context(), func(tx store.Tx) error {
			tx.AfterCommit(func() { panic("late") })
			return nil
		})
		t.Errorf("update returned %v instead of panicking", err)
	}()
	called := false
	err := s.Update(t.Context(), func(tx store.Tx) error {
		tx.AfterCommit(func() { called = true })
		return nil
	})
	if err != nil || !called {
		t.Errorf("the next update: called %v, %v", called, err)
	}
}
