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
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// looks is how often the queue is looked at where nothing is due.
const looks = 30 * time.Second

// putOff commits everything but what is written at the points, and returns the store without faults.
func (w *world) putOff(ex commit.Exchange, points ...string) (commit.Result, *faulty.Store) {
	w.Helper()
	faults := faulty.New(w.store)
	w.withStore(faults)
	w.retire()
	faults.Set(func(at string) error {
		if slices.Contains(points, at) {
			return errPlanted
		}
		return nil
	})
	res := w.commit(ex)
	faults.Set(nil)
	if len(res.Deferred) != len(points) {
		w.Fatalf("put off %v", res.Deferred)
	}
	return res, faults
}

// retire ends the worker, so that nothing is tried but by who calls RetryDue.
func (w *world) retire() {
	w.Helper()
	w.pipeline.StopWorker()
}

// An exchange ends as it ended, whatever is written later, but for the errors that are mended by it: with the last of them.
func TestWhatIsWrittenLaterMendsOnlyItsErrors(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*commit.Exchange)
		sweep  bool
		want   commit.State
	}{
		"put off":      {func(*commit.Exchange) {}, false, commit.Complete},
		"failed":       {func(ex *commit.Exchange) { ex.Failure = "no model" }, false, commit.Failed},
		"interrupted":  {func(ex *commit.Exchange) { ex.Interrupted = true }, false, commit.Interrupted},
		"a mistake":    {func(ex *commit.Exchange) { ex.Replied = func(string) { panic("no") } }, false, commit.CompleteWithErrors},
		"nobody knows": {func(*commit.Exchange) {}, true, commit.CompleteWithErrors},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorldOnMem(t, commit.Config{Retries: []time.Duration{time.Hour, time.Hour}})
			ex := everything(1)
			test.change(&ex)
			res, faults := w.putOff(ex, "InsertItems", "PutObservation")
			if test.sweep {
				w.publish(w.pipeline)
				w.update(func(tx store.Tx) error {
					_, err := tx.Outbox().SweepExports(t.Context(), tx.Now().Add(time.Hour), 100)
					return err
				})
			}
			faults.Set(failAt("PutObservation"))
			w.due()
			w.pipeline.RetryDue(t.Context())
			faults.Set(nil)
			status := func() (got commit.State) {
				w.view(func(tx store.Tx, _ turn.SessionInfo) error {
					row, err := tx.Outbox().Export(t.Context(), key.Tenant, res.ExportID)
					got = commit.State(row.Status)
					return err
				})
				return got
			}
			if got := status(); got != res.Status || len(w.deferrals()) != 1 {
				t.Errorf("with one of two written it is %s, and was %s", got, res.Status)
			}
			w.due()
			if rest := w.pipeline.RetryDue(t.Context()); rest != looks {
				t.Errorf("looks again in %s", rest)
			}
			if got := status(); got != test.want || len(w.deferrals()) > 0 {
				t.Errorf("in the end it is %s, want %s", got, test.want)
			}
			if story := w.story(res.TurnID); !strings.Contains(story, "memory written at try 2") || !strings.Contains(story, "scratch written at try 3") {
				t.Errorf("the trace does not tell it:\n%s", story)
			}
			if whole, _ := w.traced(res.TurnID); whole.Status != string(test.want) {
				t.Errorf("the trace says that it is %q", whole.Status)
			}
		})
	}
}

// What fails again says why and waits its time again. What is given up is announced with all that is known of it.
func TestWhatFailsAgainWaitsAgain(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{Retries: []time.Duration{time.Hour, 10 * time.Second}})
	began := time.Now().Add(-time.Millisecond)
	_, faults := w.putOff(everything(1), "InsertItems")
	try := func() time.Duration {
		w.due()
		return w.pipeline.RetryDue(t.Context())
	}
	faults.Set(func(at string) error {
		if at == "InsertItems" {
			return errors.New("still\x00so")
		}
		return nil
	})
	rest := try()
	if d := w.deferrals()[0]; d.Tries != 2 || d.Error != "still�so" || time.Until(d.Next) < 5*time.Second || rest > 10*time.Second || rest < 5*time.Second {
		t.Errorf("put off %+v, looks again in %s", d, rest)
	}
	if rest := try(); rest != looks {
		t.Errorf("looks again in %s", rest)
	}
	if got := w.events(); len(got) != 1 || got[0].Session != key.Session || len(got[0].ID) != 26 || got[0].At.Before(began) {
		t.Errorf("announced %+v", got)
	}
	// It is not tried any more.
	faults.Set(nil)
	if try(); w.there(1) != allTargets-1 || len(w.deferrals()) != 1 {
		t.Errorf("put off %+v", w.deferrals())
	}
}

// viewing runs something after the next view.
type viewing struct {
	store.Store
	run func()
}

func (v *viewing) View(ctx context.Context, fn func(store.Tx) error) error {
	err := v.Store.View(ctx, fn)
	if run := v.run; run != nil {
		v.run = nil
		run()
	}
	return err
}

// Of two workers that find the same work one does it.
func TestWhatAnotherWorkerDoesIsDoneOnce(t *testing.T) {
	for name, test := range map[string]struct {
		meanwhile func(w *world)
		targets   int
	}{
		"it was written": {func(w *world) {
			other, err := commit.New(w.Context(), w.store, w.config)
			if err != nil {
				w.Fatal(err)
			}
			other.RetryDue(w.Context())
			if err := other.Close(w.Context()); err != nil {
				w.Error(err)
			}
		}, allTargets},
		"it was given up": {func(w *world) {
			d := w.deferrals()[0]
			w.update(func(tx store.Tx) error {
				d.Escalated = tx.Now()
				return tx.Outbox().PutDeferral(w.Context(), d)
			})
		}, allTargets - 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorldOnMem(t, commit.Config{Retries: []time.Duration{time.Hour}})
			w.putOff(everything(1), "InsertItems")
			st := &viewing{Store: w.store}
			w.withStore(st)
			w.retire()
			w.due()
			st.run = func() { test.meanwhile(w) }
			if rest := w.pipeline.RetryDue(t.Context()); rest != looks || w.there(1) != test.targets {
				t.Errorf("looks again in %s, %d are there", rest, w.there(1))
			}
		})
	}
}

// What another worker tried in vain waits its time again, and has lost one try.
func TestWhatAnotherWorkerTriedIsNotTriedAgain(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{Retries: []time.Duration{time.Hour, 10 * time.Second}})
	w.putOff(everything(1), "InsertItems")
	st := &viewing{Store: w.store}
	w.withStore(st)
	w.retire()
	w.due()
	d := w.deferrals()[0]
	st.run = func() {
		d.Tries, d.Next = 2, time.Now().Add(10*time.Second)
		w.update(func(tx store.Tx) error { return tx.Outbox().PutDeferral(t.Context(), d) })
	}
	rest := w.pipeline.RetryDue(t.Context())
	if left := w.deferrals(); len(left) != 1 || left[0].Tries != 2 || rest > 10*time.Second || rest < 5*time.Second {
		t.Errorf("put off %+v, looks again in %s", left, rest)
	}
}

// Where there is more to do than is done at once, or the store fails, the queue is looked at again soon, and otherwise when
// something is due.
func TestWhenTheQueueIsLookedAtAgain(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{Retries: []time.Duration{time.Hour}})
	faults := faulty.New(w.store)
	w.withStore(faults)
	w.retire()
	put := func(n int, in time.Duration) {
		w.update(func(tx store.Tx) error {
			for i := range n {
				err := tx.Outbox().PutDeferral(t.Context(), event.Deferral{
					Tenant: key.Tenant, Session: "gone", ExportID: fmt.Sprint("e", in, i), Target: string(commit.Memory), Payload: "{}",
					Tries: 1, At: tx.Now(), Next: tx.Now().Add(in),
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	put(1, 20*time.Second)
	if rest := w.pipeline.RetryDue(t.Context()); rest < 15*time.Second || rest > 20*time.Second {
		t.Errorf("due in 20s, looked at in %s", rest)
	}
	put(100, 0)
	faults.Set(failAt("begin"))
	if rest := w.pipeline.RetryDue(t.Context()); rest != time.Second {
		t.Errorf("the store fails, looked at in %s", rest)
	}
	faults.Set(nil)
	// Those of a session that is gone are gone too.
	if rest := w.pipeline.RetryDue(t.Context()); rest != time.Millisecond || len(w.deferrals()) != 101-64 {
		t.Errorf("looked at in %s, %d are put off", rest, len(w.deferrals()))
	}
	if rest := w.pipeline.RetryDue(t.Context()); rest > 20*time.Second || len(w.deferrals()) != 1 {
		t.Errorf("looked at in %s, %d are put off", rest, len(w.deferrals()))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if rest := w.pipeline.RetryDue(ctx); rest != looks {
		t.Errorf("nothing can be read, looked at in %s", rest)
	}
}

// The end of a trace that nobody publishes is stored all the same after a while.
func TestTheEndOfATraceDoesNotWaitForEver(t *testing.T) {
	var later atomic.Int64
	w := newWorldOnMem(t, commit.Config{
		Retries: []time.Duration{time.Millisecond, time.Hour}, Clock: func() time.Time { return time.Now().Add(time.Duration(later.Load())) },
	})
	faults := faulty.New(w.store)
	w.withStore(faults)
	res := w.commit(talk("hello", "hi"))
	later.Store(int64(11 * time.Second))
	fresh := w.commit(talk("and now?", "yes"))
	faults.Set(failAt("InsertItems"))
	w.commit(everything(1)) // wakes the worker
	w.eventually(func() bool {
		_, rows := w.traced(res.TurnID)
		return rows == 1
	})
	if _, rows := w.traced(fresh.TurnID); rows != 0 {
		t.Errorf("one that has hardly waited is in %d rows", rows)
	}
}

// The ends of traces that wait are forgotten with the turns of their session, and with no others.
func TestWaitingEndsOfTracesAreForgotten(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	other := w.session("other", "ann")
	res := w.commit(talk("hello", "hi"))
	kept, err := w.pipeline.Commit(t.Context(), other, talk("hello", "hi"))
	if err != nil {
		t.Fatal(err)
	}
	w.update(func(tx store.Tx) error {
		info, err := tx.Log().LockSession(t.Context(), key)
		w.pipeline.ForgotTurns(tx, key.Tenant, info.Segment)
		w.pipeline.ForgotTurns(tx, "another", info.Segment+1)
		return err
	})
	if err := w.pipeline.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, rows := w.traced(res.TurnID); rows != 0 {
		t.Errorf("%d rows of what was forgotten", rows)
	}
	if _, rows := w.traced(kept.TurnID); rows != 1 {
		t.Errorf("%d rows of another session", rows)
	}
}
