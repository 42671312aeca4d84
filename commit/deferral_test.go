package commit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store"
)

func TestWhatFollowsWaitsBehindWhatWasPutOff(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{Retries: []time.Duration{time.Hour}})
		faults := faulty.New(w.store)
		w.withStore(faults)
		faults.Set(failAt("InsertTurns"))
		w.commit(everything(1))
		faults.Set(nil)
		second := w.commit(everything(2))
		if !slices.Equal(second.Deferred, []commit.Target{commit.History}) {
			t.Errorf("deferred %v: the second exchange went first", second.Deferred)
		}
		// One that comes due before it waits all the same.
		for _, d := range w.deferrals() {
			if d.ExportID == second.ExportID {
				w.update(func(tx store.Tx) error {
					d.Next = tx.Now().Add(-time.Millisecond)
					return tx.Outbox().PutDeferral(t.Context(), d)
				})
			}
		}
		w.pipeline.RetryDue(t.Context())
		if early := w.turns(); len(early) > 0 {
			t.Errorf("the second exchange was written first: %q", early)
		}
		if d := w.deferrals(); !d[1].Next.After(d[0].Next) {
			t.Errorf("the second exchange is due at %s, before the first at %s", d[1].Next, d[0].Next)
		}
		// Both come due at the same time, and are written in their order.
		w.settleAll()
		var said []string
		for _, text := range w.turns() {
			if !strings.HasPrefix(text, "[") {
				said = append(said, text)
			}
		}
		if !slices.Equal(said, []string{"q1", "a1", "q2", "a2"}) || len(w.turns()) != 6 {
			t.Errorf("the log reads %q, with %d summaries", said, len(w.turns())-len(said))
		}
		if third := w.commit(everything(3)); third.Status != commit.Complete {
			t.Errorf("the third exchange is %s", third.Status)
		}
	})
}

// What no queue can keep is written at once, with the turns that it relies on.
func TestWhatCannotBePutOffDoesNotWait(t *testing.T) {
	for name, plug := range map[string]func(*commit.Exchange, *int){
		"a belief": func(ex *commit.Exchange, ran *int) {
			ex.Believe = func(*dialogue.State) error { *ran++; return nil }
		},
		"something else": func(ex *commit.Exchange, ran *int) {
			ex.Within = func(context.Context, store.Tx) error { *ran++; return nil }
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorldOnMem(t, commit.Config{Retries: []time.Duration{time.Hour}})
			faults := faulty.New(w.store)
			w.withStore(faults)
			faults.Set(failAt("InsertTurns"))
			w.commit(everything(1))
			faults.Set(nil)
			ex, ran := everything(2), 0
			plug(&ex, &ran)
			if res := w.commit(ex); len(res.Deferred) > 0 || ran != 1 || w.there(2) != allTargets {
				t.Errorf("put off %v, it ran %d times", res.Deferred, ran)
			}
			w.settleAll()
			if w.there(1) != allTargets {
				t.Errorf("what waited is lost: %q", w.turns())
			}
		})
	}
}

// settleAll tries what is put off until nothing is.
func (w *world) settleAll() {
	w.Helper()
	for range 10 {
		if len(w.deferrals()) == 0 {
			return
		}
		w.due()
		w.pipeline.RetryDue(w.Context())
	}
	w.Fatalf("still put off: %+v", w.deferrals())
}

func TestWhatIsNoLongerLegalIsToldWhenItIsTriedAgain(t *testing.T) {
	for name, faultAt := range map[string][]string{
		"alone":          {"InsertVersion"},
		"beside another": {"InsertVersion", "PutObservation"}, // which is tried after it, and written
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorldOnMem(t, commit.Config{Retries: []time.Duration{time.Hour}})
			w.commit(everything(1))
			faults := faulty.New(w.store)
			w.withStore(faults)
			faults.Set(func(at string) error {
				if slices.Contains(faultAt, at) {
					return errPlanted
				}
				return nil
			})
			ex := everything(2)
			ex.Intentions.Goals = []cortex.GoalChange{{ID: "g", Version: 1, Progress: ptr(0.9)}}
			res := w.commit(ex)
			faults.Set(nil)
			if len(res.Deferred) != len(faultAt) {
				t.Fatalf("put off %v", res.Deferred)
			}
			// In the meantime somebody else changes the goal.
			w.update(func(tx store.Tx) error {
				info, err := tx.Log().LockSession(t.Context(), key)
				if err != nil {
					return err
				}
				state, err := cortex.Load(t.Context(), tx.Cortex(), key.Tenant, info.Lineage(info.Head), true)
				if err != nil {
					return err
				}
				staged := state.Stage(cortex.Changes{Goals: []cortex.GoalChange{{ID: "g", Progress: ptr(0.1)}}}, tx.Now(), w.config.NewID)
				return cortex.Write(t.Context(), tx.Cortex(), key.Tenant, info.Segment, info.Head, staged)
			})
			w.settleDeferrals()
			if export := w.export(res.ExportID); export.Status != commit.CompleteWithErrors {
				t.Errorf("status %s", export.Status)
			}
			if story := w.story(res.TurnID); !strings.Contains(story, "inconsistency   goal g: version:") {
				t.Errorf("the trace does not tell it:\n%s", story)
			}
			if flagged := w.events(); len(flagged) != 1 || flagged[0].Kind != event.ItemFlagged || flagged[0].TurnID != res.TurnID || !strings.Contains(flagged[0].Data, `"item":"goal g"`) {
				t.Errorf("announced %+v", flagged)
			}
		})
	}
}

func TestSettlingDoesNotHideOtherErrors(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{Retries: []time.Duration{time.Hour}})
	faults := faulty.New(w.store)
	w.withStore(faults)
	faults.Set(failAt("InsertItems"))
	ex := everything(1)
	ex.Scratch.Clear = []string{"nothing"}
	res := w.commit(ex)
	faults.Set(nil)
	w.settleDeferrals()
	if export := w.export(res.ExportID); export.Status != commit.CompleteWithErrors || len(res.Refused) != 1 {
		t.Errorf("status %s, refused %v", export.Status, res.Refused)
	}
}

func TestAnOutcomeThatIsUnknownIsAskedFor(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		persisted := 0
		w := open(commit.Config{Persisted: func() { persisted++ }})
		faults := w.loseOneAnswer()
		ex := everything(1)
		ex.Scratch.Clear = []string{"nothing"} // is refused
		res := w.commit(ex)
		if res.Repeated || res.Status != commit.CompleteWithErrors || len(res.Turns) != 3 || len(res.Refused) != 1 || len(res.Changed) != 2 || w.there(1) != allTargets || persisted != 1 {
			t.Errorf("%+v, told to the relay %d times", res, persisted)
		}
		// Where it stays unknown the caller is told the id to try again with.
		faults.Set(func(at string) error {
			if at == "begin" {
				return fmt.Errorf("connection lost: %w", store.ErrUnknown)
			}
			return nil
		})
		res, err := w.pipeline.Commit(t.Context(), key, everything(2))
		if !errors.Is(err, store.ErrUnknown) || res.ExportID == "" || res.Status != commit.Failed {
			t.Errorf("%+v, %v", res, err)
		}
		faults.Set(nil)
		ex = everything(2)
		ex.ExportID = res.ExportID
		if res := w.commit(ex); res.Repeated || w.there(2) != allTargets {
			t.Errorf("%+v", res)
		}
	})
}

// What was put off by a try whose answer was lost is told and tried again soon.
func TestWhatAnUnknownOutcomePutOffIsTriedAgain(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{Retries: []time.Duration{time.Millisecond, time.Hour}})
	var failed atomic.Bool // asked by the worker too
	faults := faulty.New(w.loseOneAnswer())
	w.withStore(faults)
	faults.Set(func(at string) error {
		if at == "InsertItems" && failed.CompareAndSwap(false, true) {
			return errPlanted
		}
		return nil
	})
	if res := w.commit(everything(1)); res.Repeated || !slices.Equal(res.Deferred, []commit.Target{commit.Memory}) {
		t.Errorf("%+v", res)
	}
	w.eventually(func() bool { return len(w.deferrals()) == 0 })
}

// An exchange that another process committed while the answer to one's own try was lost is repeated, and told as that one has it.
func TestWhatAnotherCommittedMeanwhileIsRepeated(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	ex := talk("hello", "hi")
	ex.ExportID = w.config.NewID()
	other, err := commit.New(t.Context(), w.store, w.config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := other.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	var first commit.Result
	faults := faulty.New(w.store)
	w.withStore(faults)
	lost := false
	faults.Set(func(at string) error {
		switch {
		case at == "end" && !lost:
			lost = true
			return fmt.Errorf("connection lost: %w", store.ErrUnknown)
		case at == "begin" && lost && first.ExportID == "":
			first, err = other.Commit(t.Context(), key, ex)
			return err
		}
		return nil
	})
	if res := w.commit(ex); !res.Repeated || len(res.Turns) != 3 || res.Turns[0].ID != first.Turns[0].ID {
		t.Errorf("%+v, and by the other %+v", res, first)
	}
}

func TestCommitsThatKeepComingDoNotKeepTheQueueFromWork(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{Retries: []time.Duration{50 * time.Millisecond, 50 * time.Millisecond, time.Hour}})
	faults := faulty.New(w.store)
	w.withStore(faults)
	faults.Set(failAt("PutObservation"))
	w.commit(everything(0))
	n := 0
	w.eventually(func() bool {
		n++
		w.commit(everything(n)) // each puts a note off, and wakes the worker
		return w.deferrals()[0].Tries > 1
	})
}

// However much is put off, nobody looks at it before the first of it is due.
func TestAFullQueueIsLeftAloneUntilItIsDue(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{Retries: []time.Duration{time.Hour}})
	w.update(func(tx store.Tx) error {
		for i := range 100 {
			err := tx.Outbox().PutDeferral(t.Context(), event.Deferral{
				Tenant: key.Tenant, Session: key.Session, ExportID: fmt.Sprint("e", i), Target: string(commit.Memory), Payload: "{}",
				Tries: 1, At: tx.Now(), Next: tx.Now().Add(20 * time.Second),
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if rest := w.pipeline.RetryDue(t.Context()); rest < 15*time.Second {
		t.Errorf("looked at again after %s", rest)
	}
}

// What was put off and is there all the same, as after a restore, is not written again; it must be the same.
func TestAnItemThatIsThereAlreadyMustBeTheSame(t *testing.T) {
	for name, test := range map[string]struct {
		change  func(*memory.Row)
		settled bool
	}{
		"the same":   {func(*memory.Row) {}, true},
		"other text": {func(r *memory.Row) { r.Text = "something else" }, false},
		"other data": {func(r *memory.Row) { r.Data = `{"a":1}` }, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorldOnMem(t, commit.Config{Retries: []time.Duration{time.Hour, time.Hour}})
			faults := faulty.New(w.store)
			w.withStore(faults)
			faults.Set(failAt("InsertItems"))
			ex := everything(1)
			ex.Candidates = append(ex.Candidates, fact("something new"))
			res := w.commit(ex)
			faults.Set(nil)
			item := w.export(res.ExportID).Episodes[0]
			w.update(func(tx store.Tx) error {
				info, err := tx.Log().LockSession(t.Context(), key)
				if err != nil {
					return err
				}
				row := item.Row(memory.Owner{Tenant: key.Tenant, Segment: info.Segment, Session: key.Session, User: info.User})
				test.change(&row)
				_, err = tx.Memory().InsertItems(t.Context(), []memory.Row{row})
				return err
			})
			w.due()
			w.pipeline.RetryDue(t.Context())
			left := w.deferrals()
			if settled := len(left) == 0; settled != test.settled || settled != slices.Contains(w.items(), "something new") {
				t.Errorf("put off %+v, remembered %q", left, w.items())
			}
			if !test.settled && (len(left) != 1 || !strings.Contains(left[0].Error, item.ID)) {
				t.Errorf("put off %+v", left)
			}
		})
	}
}
