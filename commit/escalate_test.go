package commit_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/internal/scenario"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// reminded is a world with a reminder that was sent and whose time is over in a day.
func reminded(t *testing.T, c commit.Config) (*world, *scenario.Clock) {
	t.Helper()
	clock := scenario.NewClock()
	c.Clock = clock.Now
	w := newWorld(t, mem.New(mem.Config{Clock: clock.Now}), c)
	for _, status := range []cortex.ActionStatus{cortex.ActionScheduled, cortex.ActionSent} {
		w.commit(moved(status))
	}
	return w, clock
}

// moved is an exchange in which the user says what became of the reminder.
func moved(status cortex.ActionStatus) commit.Exchange {
	ex := talk("the call?", "noted")
	ex.Intentions.Actions = []cortex.ActionChange{
		{ID: "call", By: cortex.ActorUser, Type: ptr(cortex.Reminder), Title: ptr("call"), Status: &status},
	}
	return ex
}

// escalate does what a sweep does, and returns how many are escalated.
func (w *world) escalate() int64 {
	w.Helper()
	var ids []string
	w.view(func(tx store.Tx, _ turn.SessionInfo) error {
		due, err := tx.Cortex().DueReminders(w.Context(), tx.Now(), 9)
		for _, d := range due {
			ids = append(ids, d.ID)
		}
		return err
	})
	if len(ids) == 0 {
		return 0
	}
	n, err := w.pipeline.Escalate(w.Context(), key, ids)
	if err != nil {
		w.Fatal(err)
	}
	return n
}

func (w *world) escalations() int {
	w.Helper()
	return len(slices.DeleteFunc(w.events(), func(e event.Event) bool { return e.Kind != event.ReminderEscalated }))
}

// An answer that is put off is an answer: a reminder is not escalated before it, which could not be given then any more.
func TestAReminderIsNotEscalatedBeforeAnAnswerThatWasPutOff(t *testing.T) {
	w, clock := reminded(t, commit.Config{Retries: []time.Duration{48 * time.Hour}})
	faults := faulty.New(w.store)
	w.withStore(faults)
	faults.Set(failAt("InsertVersion"))
	if res := w.commit(moved(cortex.ActionDone)); !slices.Equal(res.Deferred, []commit.Target{commit.Cortex}) {
		t.Fatalf("put off %v", res.Deferred)
	}
	faults.Set(nil)
	clock.Advance(25 * time.Hour)
	for range 2 { // it is out of the way of others
		if n := w.escalate(); n != 0 {
			t.Errorf("escalated %d", n)
		}
	}
	w.settleAll()
	clock.Advance(commit.LookAgain)
	n := w.escalate()
	if a, _ := w.intentions().Action("call"); a.Status != cortex.ActionDone || n != 0 || w.escalations() != 0 {
		t.Errorf("%s, escalated %d, announced %d", a.Status, n, w.escalations())
	}
}

// An exchange that is under way may be the answer, and escalates the reminder itself where it is not.
func TestAReminderIsNotEscalatedDuringAnExchange(t *testing.T) {
	w, clock := reminded(t, commit.Config{})
	clock.Advance(25 * time.Hour)
	w.update(func(tx store.Tx) error {
		return tx.Log().PutExchange(t.Context(), key, turn.OpenExchange{ExportID: "e", Opened: "t", Started: tx.Now(), Changed: tx.Now()})
	})
	if n := w.escalate(); n != 0 {
		t.Errorf("escalated %d", n)
	}
	w.update(func(tx store.Tx) error { return tx.Log().DeleteExchange(t.Context(), key) })
	if n := w.escalate(); n != 0 {
		t.Errorf("escalated %d at once", n)
	}
	clock.Advance(commit.LookAgain)
	if n := w.escalate(); n != 1 || w.escalations() != 1 {
		t.Errorf("escalated %d, announced %d", n, w.escalations())
	}
}

// A commit that would escalate what is escalated or answered meanwhile has nothing to complain about.
func TestAReminderThatIsSettledDuringACommit(t *testing.T) {
	for name, settle := range map[string]struct {
		do   func(*world)
		want cortex.ActionStatus
	}{
		"escalated": {func(w *world) { w.escalate() }, cortex.ActionEscalated},
		"answered": {func(w *world) {
			w.update(func(tx store.Tx) error {
				info, err := tx.Log().LockSession(w.Context(), key)
				if err != nil {
					return err
				}
				state, err := cortex.Load(w.Context(), tx.Cortex(), key.Tenant, info.Lineage(info.Head), true)
				if err != nil {
					return err
				}
				w.pipeline.Changed(key)
				return cortex.Write(w.Context(), tx.Cortex(), key.Tenant, info.Segment, info.Head, state.Stage(moved(cortex.ActionDone).Intentions, tx.Now(), nil))
			})
		}, cortex.ActionDone},
	} {
		t.Run(name, func(t *testing.T) {
			var meanwhile func()
			w, clock := reminded(t, commit.Config{Deadlines: patient, Reflector: commit.ReflectFunc(func(context.Context, *commit.Situation, commit.Assessment) (commit.Reflection, error) {
				if meanwhile != nil {
					meanwhile()
				}
				return commit.Reflection{}, nil
			})})
			meanwhile = func() { settle.do(w) }
			clock.Advance(25 * time.Hour)
			res := w.commit(talk("hello", "hi"))
			a, _ := w.intentions().Action("call")
			if res.Status != commit.Complete || len(w.export(res.ExportID).Metadata.Warnings) > 0 || a.Status != settle.want || w.escalations() > 1 {
				t.Errorf("%s, warned of %q, %s, announced %d", res.Status, w.export(res.ExportID).Metadata.Warnings, a.Status, w.escalations())
			}
		})
	}
}

// What an update that came to nothing would have escalated is not counted.
func TestAReminderThatCannotBeEscalatedIsNotCounted(t *testing.T) {
	w, clock := reminded(t, commit.Config{})
	clock.Advance(25 * time.Hour)
	faults := faulty.New(w.store)
	w.withStore(faults)
	faults.Set(failAt("end"))
	n, err := w.pipeline.Escalate(t.Context(), key, []string{"call"})
	if faults.Set(nil); n != 0 || !errors.Is(err, errPlanted) {
		t.Errorf("%d, %v", n, err)
	}
	if n := w.escalate(); n != 1 {
		t.Errorf("escalated %d", n)
	}
}
