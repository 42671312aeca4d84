package extract_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/budget/bpe"
	"github.com/turnstone-dev/turnstone/compress/extract"
)

// TestFitOfPrepared: whatever was fitted before, the summary is the one that is made afresh.
func TestFitOfPrepared(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := lines().Draw(t, "lines")
		o := extract.Options{Count: runes, Focus: rapid.SampledFrom([]string{"", "Find the lantern in Zwolle"}).Draw(t, "focus")}
		given := slices.Clone(all)
		p := extract.Prepare(given, o.Focus, o.Count)
		clear(given)
		for _, o.Budget = range rapid.SliceOfN(rapid.IntRange(-1, 900), 1, 5).Draw(t, "budgets") {
			if diff := cmp.Diff(extract.Summarise(all, o), p.Fit(o.Budget)); diff != "" {
				t.Fatalf("at %d tokens: %s", o.Budget, diff)
			}
		}
	})
}

func TestFitAtTheSameTime(t *testing.T) {
	all := chatter(4 << 10)
	p := extract.Prepare(all, "", nil)
	budgets := []int{40, 200, 900, 4000, 4000, 40}
	got := make([]extract.Summary, len(budgets))
	var wg sync.WaitGroup
	for i, budget := range budgets {
		wg.Go(func() { got[i] = p.Fit(budget) })
	}
	wg.Wait()
	for i, budget := range budgets {
		if diff := cmp.Diff(extract.Summarise(all, extract.Options{Budget: budget, Count: bpe.O200k().Count}), got[i]); diff != "" {
			t.Errorf("at %d tokens: %s", budget, diff)
		}
	}
}
