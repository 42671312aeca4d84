package memory_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/turn"
)

var lima = turn.Key{Tenant: "default", Session: "lima"}

// drafter is a manager with a summariser, whose log can be read.
type drafter struct {
	*memory.Manager
	t     *testing.T
	logs  logs
	mu    sync.Mutex // guards plans
	plans int        // how often somebody was asked for one
}

type logs struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// newDrafter returns a manager that is closed when the test ends.
func newDrafter(t *testing.T, s summariser, timeout time.Duration) *drafter {
	d := &drafter{t: t}
	d.Manager = memory.NewManager(memory.ManagerConfig{
		Summariser: s, Timeout: timeout, NewID: func() string { return "new" }, Log: slog.New(slog.NewTextHandler(&d.logs, nil)),
	})
	t.Cleanup(d.Close)
	return d
}

// full plans the full job for an epoch.
func (d *drafter) full(epoch int64) func(context.Context) (*memory.Plan, error) {
	p := &memory.Plan{Epoch: epoch, From: 21, Job: fullJob(d.t)}
	return func(context.Context) (*memory.Plan, error) {
		d.count()
		return p, nil
	}
}

func (d *drafter) count() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.plans++
}

// wantPlans fails unless somebody was asked for so many plans so far.
func (d *drafter) wantPlans(n int) {
	d.t.Helper()
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.plans != n {
		d.t.Errorf("asked for %d plans, want %d", d.plans, n)
	}
}

// slow takes ten seconds for an answer.
func slow(ctx context.Context, r compress.Request) (string, error) {
	select {
	case <-time.After(10 * time.Second):
		return able(ctx, r)
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// hung never answers, as long as somebody waits.
func hung(ctx context.Context, _ compress.Request) (string, error) {
	<-ctx.Done()
	return "", ctx.Err()
}

// TestTakeNeverWaits drafts with a summariser that takes ten seconds for each of two summaries. Time stands
// still in the bubble unless everybody waits, so a Take that waited would show.
func TestTakeNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDrafter(t, slow, 0)
		begun := time.Now()
		for range 50 {
			d.Draft(t.Context(), lima, 3, d.full(3))
			if got := d.Take(lima, 3); got != nil {
				t.Fatalf("%+v after %v", got, time.Since(begun))
			}
		}
		if waited := time.Since(begun); waited != 0 {
			t.Fatalf("somebody waited %v", waited)
		}
		time.Sleep(20*time.Second - 1)
		if got := d.Take(lima, 3); got != nil {
			t.Fatalf("%+v is ready too soon", got)
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		draft := d.Take(lima, 3)
		if draft == nil || draft.Epoch != 3 || draft.From != 21 || draft.Job == nil || len(draft.Outcome.Made) != 2 || draft.Outcome.Made[0].Receipt.By != "model" {
			t.Fatalf("%+v", draft)
		}
		d.Draft(t.Context(), lima, 3, d.full(3))
		d.wantPlans(1)
		if d.Take(lima, 3) != draft || d.Take(lima, 2) != nil || d.Take(lima, 4) != nil || d.Take(turn.Key{}, 3) != nil {
			t.Error("another draft is taken")
		}
		d.Drop(lima)
		if d.Take(lima, 3) != nil {
			t.Error("it is there after it was dropped")
		}
		d.Drop(lima)
	})
}

// TestDraftOutlivesWhoAskedForIt ends the context of the request that asked.
func TestDraftOutlivesWhoAskedForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDrafter(t, slow, 0)
		ctx, cancel := context.WithCancel(t.Context())
		d.Draft(ctx, lima, 1, d.full(1))
		cancel()
		time.Sleep(time.Minute)
		if d.Take(lima, 1) == nil {
			t.Error("it is not ready")
		}
	})
}

func TestDraftOfAnotherEpoch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDrafter(t, slow, 0)
		d.Draft(t.Context(), lima, 1, d.full(1))
		d.Draft(t.Context(), lima, 2, d.full(2))
		d.wantPlans(2)
		time.Sleep(time.Minute)
		if d.Take(lima, 1) != nil || d.Take(lima, 2) == nil {
			t.Error("not the newer one is ready")
		}
		// The plan may find a newer epoch than whoever asked for it.
		d.Draft(t.Context(), lima, 3, d.full(4))
		time.Sleep(time.Minute)
		if d.Take(lima, 2) != nil || d.Take(lima, 3) != nil || d.Take(lima, 4) == nil {
			t.Error("not the one of the plan is ready")
		}
		d.Draft(t.Context(), lima, 4, d.full(4))
		d.wantPlans(3)
	})
}

// TestDraftWithASummariserThatHangs waits for the timeout of each answer and does without.
func TestDraftWithASummariserThatHangs(t *testing.T) {
	for _, name := range []string{"and listens", "and does not listen"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				deaf := make(chan struct{})
				defer close(deaf)
				d := newDrafter(t, func(ctx context.Context, r compress.Request) (string, error) {
					if name == "and listens" {
						return hung(ctx, r)
					}
					<-deaf
					return "", nil
				}, time.Minute)
				d.Draft(t.Context(), lima, 1, d.full(1))
				time.Sleep(2*time.Minute - 1)
				if d.Take(lima, 1) != nil {
					t.Fatal("it is ready too soon")
				}
				time.Sleep(time.Nanosecond)
				synctest.Wait()
				draft := d.Take(lima, 1)
				if draft == nil || !draft.Outcome.Made[0].Receipt.Fallback() || !draft.Outcome.Made[1].Receipt.Fallback() {
					t.Fatalf("%+v", draft)
				}
				if b := memory.After(compress.Breaker{}, draft.Outcome); b.Failures != 1 {
					t.Errorf("%+v", b)
				}
			})
		})
	}
}

// TestADraftIsOvertaken where the summariser was asked and has given nothing that could be used.
func TestADraftIsOvertaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDrafter(t, slow, time.Minute)
		want := func(what string, want bool) {
			t.Helper()
			synctest.Wait()
			if got := d.Overtaken(lima, 1); got != want {
				t.Errorf("%s: %v", what, got)
			}
		}
		want("none", false)
		release := make(chan struct{})
		d.Draft(t.Context(), lima, 1, func(ctx context.Context) (*memory.Plan, error) {
			<-release
			return d.full(1)(ctx)
		})
		want("it is being planned", false)
		close(release)
		want("the summariser is asked", true)
		if d.Overtaken(lima, 2) || d.Overtaken(key(0), 1) {
			t.Error("another epoch or session is overtaken")
		}
		time.Sleep(time.Minute)
		want("it is ready", false)
		d.Drop(lima)
		want("it was dropped", false)
		d.Draft(t.Context(), lima, 1, func(context.Context) (*memory.Plan, error) {
			return &memory.Plan{Epoch: 1, Job: fullJob(t), Breaker: compress.Breaker{Failures: 3}}, nil
		})
		want("the summariser was left alone", false)
	})
	synctest.Test(t, func(t *testing.T) {
		d := newDrafter(t, hung, time.Minute)
		d.Draft(t.Context(), lima, 1, d.full(1))
		time.Sleep(5 * time.Minute)
		if d.Take(lima, 1) == nil || !d.Overtaken(lima, 1) {
			t.Error("it was not believed, and is not overtaken")
		}
	})
}

// TestDraftThatComesToNothing is logged where something went wrong, and not tried again at once.
func TestDraftThatComesToNothing(t *testing.T) {
	type plan = func(context.Context) (*memory.Plan, error)
	for _, tt := range []struct {
		name, log string
		plan      plan
	}{
		{"an error", "disk full", func(context.Context) (*memory.Plan, error) { return nil, errors.New("disk full") }},
		{"a panic", "panic: oh dear", func(context.Context) (*memory.Plan, error) { panic("oh dear") }},
		{"nothing to do", "", func(context.Context) (*memory.Plan, error) { return nil, nil }},
		{"nothing to gain", "", func(context.Context) (*memory.Plan, error) {
			return &memory.Plan{Epoch: 1, Job: &compress.Job{New: talk(1, 1), Count: func(string) int { return 1 }}}, nil
		}},
		{"a plan that hangs", context.DeadlineExceeded.Error(), func(ctx context.Context) (*memory.Plan, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDrafter(t, slow, 0)
				counted := func(ctx context.Context) (*memory.Plan, error) {
					d.count()
					return tt.plan(ctx)
				}
				d.Draft(t.Context(), lima, 1, counted)
				time.Sleep(29 * time.Second)
				d.Draft(t.Context(), lima, 1, counted)
				d.wantPlans(1)
				time.Sleep(31 * time.Second)
				if d.Take(lima, 1) != nil {
					t.Error("there is one")
				}
				got := d.logs.String()
				if logged := strings.Contains(got, "session=lima epoch=1"); !strings.Contains(got, tt.log) || logged != (tt.log != "") {
					t.Errorf("the log says %q", got)
				}
				d.Draft(t.Context(), lima, 1, counted)
				d.wantPlans(2)

				d.Draft(t.Context(), lima, 2, d.full(2))
				time.Sleep(time.Minute)
				if d.Take(lima, 2) == nil {
					t.Error("the next epoch rests too")
				}
			})
		})
	}
}

func key(n int) turn.Key { return turn.Key{Tenant: "default", Session: fmt.Sprint("s", n)} }

func TestTwoDraftsAreMadeAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDrafter(t, slow, 0)
		for n := range 5 {
			d.Draft(t.Context(), key(n), 1, d.full(1))
		}
		d.wantPlans(2)
		time.Sleep(20 * time.Second)
		synctest.Wait()
		d.Draft(t.Context(), key(2), 1, d.full(1))
		d.wantPlans(3)
		if d.Take(key(0), 1) == nil || d.Take(key(1), 1) == nil || d.Take(key(2), 1) != nil {
			t.Error("not the first two are ready")
		}
		// What is dropped makes room as soon as it ended.
		d.Draft(t.Context(), key(3), 1, d.full(1))
		d.Drop(key(3))
		synctest.Wait()
		d.Draft(t.Context(), key(4), 1, d.full(1))
		d.wantPlans(5)
		time.Sleep(time.Minute)
		if d.Take(key(3), 1) != nil || d.Take(key(4), 1) == nil {
			t.Error("what was dropped came back, or its place was not free")
		}
	})
}

// TestOldestDraftIsDropped keeps 64, and those that are being made whatever their age.
func TestOldestDraftIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDrafter(t, able, 0)
		release := make(chan struct{})
		d.Draft(t.Context(), key(0), 1, func(ctx context.Context) (*memory.Plan, error) {
			<-release
			return d.full(1)(ctx)
		})
		for n := range 65 {
			d.Draft(t.Context(), key(n), 1, d.full(1))
			synctest.Wait()
		}
		close(release)
		synctest.Wait()
		for n := range 65 {
			if ready := d.Take(key(n), 1) != nil; ready != (n != 1) {
				t.Errorf("draft %d is ready: %v", n, ready)
			}
		}
	})
}

// TestCloseWhileDrafting ends what is under way, waits for it and lets nothing begin again. The bubble
// fails the test if a goroutine is left.
func TestCloseWhileDrafting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDrafter(t, hung, 0)
		ended := false
		d.Draft(t.Context(), key(0), 1, func(context.Context) (*memory.Plan, error) {
			return &memory.Plan{Epoch: 1, Job: fullJob(t), Breaker: compress.Breaker{Failures: 3}}, nil
		})
		synctest.Wait()
		if d.Take(key(0), 1) == nil {
			t.Fatal("the summariser is asked behind an open breaker")
		}
		d.Draft(t.Context(), key(1), 1, d.full(1))
		d.Draft(t.Context(), key(2), 1, func(ctx context.Context) (*memory.Plan, error) {
			<-ctx.Done()
			time.Sleep(time.Second) // as one that puts its papers in order
			ended = true
			return nil, ctx.Err()
		})
		synctest.Wait()
		begun := time.Now()
		d.Close()
		if waited := time.Since(begun); waited != time.Second || !ended {
			t.Errorf("closed after %v, ended: %v", waited, ended)
		}
		d.Draft(t.Context(), key(3), 1, d.full(1))
		d.wantPlans(1)
		for n := range 4 {
			if d.Take(key(n), 1) != nil {
				t.Errorf("draft %d is there", n)
			}
		}
		if got := d.logs.String(); got != "" {
			t.Errorf("the log says %q", got)
		}
		if out, err := d.Extract(t.Context(), fullJob(t)); err != nil || len(out.Made) != 2 {
			t.Errorf("%v, %+v", err, out)
		}
		d.Close()
	})
}
