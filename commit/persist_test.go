package commit_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

// An update is done again where a moment later it may succeed, and its trace says so.
func TestAnUpdateIsDoneAgainWhereThatMayHelp(t *testing.T) {
	for name, test := range map[string]struct {
		failure error
		tries   int
	}{
		"locked":        {store.ErrLocked, 2},
		"not reached":   {store.ErrUnavailable, 2},
		"unknown":       {store.ErrUnknown, 2},
		"full":          {store.ErrFull, 1},
		"whatever else": {errPlanted, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var traced trace.TurnTrace
			w := newWorldOnMem(t, commit.Config{Traced: func(_ context.Context, t trace.TurnTrace) { traced = t }})
			faults := faulty.New(w.store)
			w.withStore(faults)
			tries := 0
			faults.Set(func(at string) error {
				if at != "begin" {
					return nil
				}
				if tries++; tries == 1 {
					return test.failure
				}
				return nil
			})
			_, err := w.pipeline.Commit(t.Context(), key, talk("hello", "hi"))
			faults.Set(nil)
			told := slices.ContainsFunc(traced.Entries, func(e trace.Entry) bool { return e.Kind == trace.Retry })
			if again := test.tries > 1; tries != test.tries || again != (err == nil) || again != told {
				t.Errorf("tried %d times, %v, traced %+v", tries, err, traced.Entries)
			}
		})
	}
}

// It is done again after 10, 20 and 40 ms, and then the error is the caller's.
func TestAnUpdateIsDoneAgainThreeTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOnMem(t, commit.Config{})
		faults := faulty.New(w.store)
		w.withStore(faults)
		var waited []time.Duration
		last := time.Now()
		faults.Set(func(at string) error {
			if at != "begin" {
				return nil
			}
			waited, last = append(waited, time.Since(last)), time.Now()
			return store.ErrLocked
		})
		_, err := w.pipeline.Commit(t.Context(), key, talk("hello", "hi"))
		faults.Set(nil)
		if want := []time.Duration{0, 10 * time.Millisecond, 20 * time.Millisecond, 40 * time.Millisecond}; !errors.Is(err, store.ErrLocked) || !slices.Equal(waited, want) {
			t.Errorf("tried after %v, want %v: %v", waited, want, err)
		}
	})
}

// A store that waited for a lock in vain is not made to wait again, and the error says what stood in the way, also where
// there is no time left for another try.
func TestALockThatSomebodyHoldsIsToldOf(t *testing.T) {
	for name, test := range map[string]struct {
		locked, then time.Duration // how long the first update takes, and those after it
		failure      error         // of the first
		tries        int
	}{
		"it waited for the lock": {15 * time.Second, 0, store.ErrLocked, 1},
		"there is no time left":  {time.Millisecond, time.Hour, store.ErrUnavailable, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorldOnMem(t, commit.Config{})
				st := &slow{Store: w.store}
				w.withStore(st)
				tries := 0
				st.before = func(ctx context.Context) error {
					if tries++; tries == 1 {
						time.Sleep(test.locked)
						return test.failure
					}
					select {
					case <-time.After(test.then):
						return nil
					case <-ctx.Done():
						return ctx.Err()
					}
				}
				_, err := w.pipeline.Commit(t.Context(), key, talk("hello", "hi"))
				st.before = nil
				if !errors.Is(err, test.failure) || errors.Is(err, context.DeadlineExceeded) || tries != test.tries {
					t.Errorf("%d tries, %v", tries, err)
				}
			})
		})
	}
}

// slow is a store whose updates have to wait.
type slow struct {
	store.Store
	before func(context.Context) error
}

func (s *slow) Update(ctx context.Context, fn func(store.Tx) error) error {
	if s.before != nil {
		if err := s.before(ctx); err != nil {
			return err
		}
	}
	return s.Store.Update(ctx, fn)
}

// An update that fails for its follow-up context, also where it has none any more, is not done for ever.
func TestAFollowUpContextIsLeftOutOnce(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	faults := faulty.New(w.store)
	w.withStore(faults)
	tries := 0
	faults.Set(func(at string) error {
		if at == "begin" && tries < 10 {
			tries++
			return dialogue.ErrNotKept
		}
		return nil
	})
	if _, err := w.pipeline.Commit(t.Context(), key, talk("hello", "hi")); !errors.Is(err, dialogue.ErrNotKept) || tries != 2 {
		t.Errorf("tried %d times: %v", tries, err)
	}
}

// What the caller must hear of is not put off, and nothing of the exchange is there.
func TestWhatTryingAgainDoesNotHelpIsAnError(t *testing.T) {
	var traced trace.TurnTrace
	w := newWorldOnMem(t, commit.Config{Traced: func(_ context.Context, t trace.TurnTrace) { traced = t }})
	faults := faulty.New(w.store)
	w.withStore(faults)
	faults.Set(func(at string) error {
		if at == "InsertItems" {
			return store.ErrFull
		}
		return nil
	})
	res, err := w.pipeline.Commit(t.Context(), key, everything(1))
	if !errors.Is(err, store.ErrFull) || w.there(1) != 0 || len(w.deferrals()) != 0 {
		t.Errorf("%+v, %v", res, err)
	}
	if res.Status != commit.Failed || len(res.ExportID) != 26 || len(res.TurnID) != 26 || res.Reply != "a1" {
		t.Errorf("the caller is told %+v", res)
	}
	if w.states[len(w.states)-1] != commit.Failed || traced.Status != string(commit.Failed) || traced.ExportID != res.ExportID {
		t.Errorf("states %v, trace %+v", w.states, traced)
	}
}

// A change of belief keeps the turns from being put off, and nothing else. The queue says why and since when.
func TestOnlyTurnsAreBoundToABelief(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{Retries: []time.Duration{time.Hour}})
	faults := faulty.New(w.store)
	w.withStore(faults)
	faults.Set(failAt("InsertItems"))
	ex := everything(1)
	ex.Believe = func(*dialogue.State) error { return nil }
	if res := w.commit(ex); !slices.Equal(res.Deferred, []commit.Target{commit.Memory}) {
		t.Errorf("put off %v", res.Deferred)
	}
	if d := w.deferrals()[0]; d.Error != errPlanted.Error() || time.Since(d.At) > time.Minute {
		t.Errorf("put off since %s: %s", d.At, d.Error)
	}
}

// Who keeps windows ready is told of every turn, in order, when it is durable: also of those that were put off.
func TestAppendedTurnsAreTold(t *testing.T) {
	var told []string
	w := newWorldOnMem(t, commit.Config{Retries: []time.Duration{time.Hour}, Appended: func(k turn.Key, turns []turn.Turn) {
		if k != key {
			t.Errorf("told of %v", k)
		}
		for _, t := range turns {
			told = append(told, t.ID)
		}
	}})
	faults := faulty.New(w.store)
	w.withStore(faults)
	w.commit(talk("hello", "hi"))
	faults.Set(failAt("InsertTurns"))
	w.commit(talk("and now?", "later"))
	faults.Set(nil)
	w.settleAll()
	var stand []string
	w.view(func(tx store.Tx, info turn.SessionInfo) error {
		turns, err := tx.Log().Scan(t.Context(), key.Tenant, info.Spans(info.Head)[0], turn.RowFilter{}, 100)
		for _, t := range turns {
			stand = append(stand, t.ID)
		}
		return err
	})
	if len(stand) != 6 || !slices.Equal(told, stand) {
		t.Errorf("told of %q, in the log stand %q", told, stand)
	}
}
