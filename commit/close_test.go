package commit_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// answered is what became of a commit.
type answered struct {
	commit.Result
	err error
}

func (w *world) committing(key turn.Key, ex commit.Exchange) <-chan answered {
	answer := make(chan answered, 1)
	go func() {
		res, err := w.pipeline.Commit(context.WithoutCancel(w.Context()), key, ex)
		answer <- answered{res, err}
	}()
	synctest.Wait()
	return answer
}

func (w *world) closing() <-chan error {
	closed := make(chan error, 1)
	go func() { closed <- w.pipeline.Close(w.Context()) }()
	synctest.Wait()
	return closed
}

// Who is in when the pipeline is closed is waited for, and the end of the trace is stored. Who comes later, and who waits for
// the session, is refused before the reply is told.
func TestCloseWaitsForCommitsThatAreUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		goOn := make(chan struct{})
		w := newWorldOnMem(t, commit.Config{
			Deadlines: commit.Deadlines{Respond: time.Hour},
			Responder: commit.RespondFunc(func(context.Context, *commit.Situation) (string, error) {
				<-goOn
				return "", nil
			}),
		})
		other := w.session("other", "ann")
		late := talk("and I?", "no")
		late.Replied = func(string) { t.Error("a reply is told of what is refused") }

		in := w.committing(key, talk("hello", "hi"))
		waiting := w.committing(key, late)
		closed := w.closing()
		if _, err := w.pipeline.Commit(t.Context(), other, late); !errors.Is(err, store.ErrClosed) || !strings.Contains(err.Error(), "commit to other") {
			t.Errorf("committed once it was closed: %v", err)
		}
		if len(closed) > 0 {
			t.Error("closed while a commit is under way")
		}
		close(goOn)
		if err := <-closed; err != nil {
			t.Error(err)
		}
		if got := <-waiting; !errors.Is(got.err, store.ErrClosed) {
			t.Errorf("who waited for the session: %v", got.err)
		}
		got := <-in
		if got.err != nil || got.Status != commit.Complete {
			t.Errorf("who was in: %s, %v", got.Status, got.err)
		}
		if whole, rows := w.traced(got.TurnID); len(phases(whole)) != 6 || rows != 1 {
			t.Errorf("of the trace there are the phases %v in %d rows", phases(whole), rows)
		}
	})
}

// Ends of traces are stored however the clock was set since.
func TestCloseStoresTheEndsOfTracesWhateverTheTime(t *testing.T) {
	var back time.Duration
	w := newWorldOnMem(t, commit.Config{Clock: func() time.Time { return time.Now().Add(-back) }})
	w.retire() // it reads the clock, too
	res := w.commit(talk("hello", "hi"))
	back = 2 * time.Hour
	if err := w.pipeline.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, rows := w.traced(res.TurnID); rows != 1 {
		t.Errorf("the trace has %d rows", rows)
	}
}

// A commit that does not come to its end is not waited for any longer; it goes on, and so do its judges.
func TestCloseDoesNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		goOn := make(chan struct{})
		w := newWorldOnMem(t, commit.Config{
			Evaluator: commit.EvaluateFunc(func(context.Context, *commit.Situation) (commit.Assessment, error) {
				return commit.Assessment{Success: true}, nil
			}),
		})
		ex := talk("hello", "hi")
		ex.Replied = func(string) { <-goOn }
		in := w.committing(key, ex)
		begin := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := w.pipeline.Close(ctx); err == nil || !strings.Contains(err.Error(), "still being committed") || time.Since(begin) != 5*time.Second {
			t.Errorf("closed after %s: %v", time.Since(begin), err)
		}
		close(goOn)
		if got := <-in; got.err != nil || got.Status != commit.Complete {
			t.Errorf("%s, %v", got.Status, got.err)
		}
	})
}
