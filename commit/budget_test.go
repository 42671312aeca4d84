package commit_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/trace"
)

// TestTC41CommitCompletesWithinBudget: whatever is plugged in, no phase takes longer than the seed allows it.
// Time is not the machine's here, so that only waiting counts; what the work itself costs is measured by the
// benchmarks.
func TestTC41CommitCompletesWithinBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		forEver := func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}
		var told trace.TurnTrace
		w := newWorldOnMem(t, commit.Config{
			Responder: commit.RespondFunc(func(ctx context.Context, _ *commit.Situation) (string, error) { return "", forEver(ctx) }),
			Evaluator: commit.EvaluateFunc(func(ctx context.Context, _ *commit.Situation) (commit.Assessment, error) {
				return commit.Assessment{}, forEver(ctx)
			}),
			Reflector: commit.ReflectFunc(func(ctx context.Context, _ *commit.Situation, _ commit.Assessment) (commit.Reflection, error) {
				return commit.Reflection{}, forEver(ctx)
			}),
			Traced: func(_ context.Context, tr trace.TurnTrace) { told = tr },
		})
		begin := time.Now()
		res := w.commit(everything(1))
		if took := time.Since(begin); took >= 800*time.Millisecond || len(res.Problems) != 3 {
			t.Errorf("it took %s, problems %q", took, res.Problems)
		}
		budget := map[string]time.Duration{"complete": 100, "reflect": 200, "select": 100, "persist": 200, "notify": 100, "finalize": 100}
		for _, s := range told.Spans {
			if s.Length > budget[s.Phase]*time.Millisecond {
				t.Errorf("%s took %s", s.Phase, s.Length)
			}
			delete(budget, s.Phase)
		}
		if len(budget) != 0 {
			t.Errorf("phases without a span: %v", budget)
		}
	})
}
