package budget_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/budget"
)

func TestUpper(t *testing.T) {
	for _, tt := range []struct {
		tokens int
		margin float64
		want   int
	}{
		{0, 0.5, 0}, {100, 0, 100}, {100, 0.1, 110}, {100, 0.101, 111}, {3, 0.01, 4}, {7, 1, 14},
		{100, -0.5, 100}, {100, math.NaN(), 100}, {100, math.Inf(1), 1 << 40},
	} {
		c := budget.Count{Tokens: tt.tokens, Certainty: budget.Estimated, Margin: tt.margin}
		if got := c.Upper(); got != tt.want {
			t.Errorf("%d and %g: got %d, want %d", tt.tokens, tt.margin, got, tt.want)
		}
	}
}

func TestTalliesAddUp(t *testing.T) {
	a := budget.Tally{Exact: 1, Prose: 2, Code: 3, Data: 4, Dense: 5, Messages: 6, Calls: 7, Tools: 8, Images: 9}
	b := budget.Tally{Exact: 10, Prose: 20, Code: 30, Data: 40, Dense: 50, Messages: 60, Calls: 70, Tools: 80, Images: 90}
	sum := budget.Tally{Exact: 11, Prose: 22, Code: 33, Data: 44, Dense: 55, Messages: 66, Calls: 77, Tools: 88, Images: 99}
	if got := a.Plus(b); got != sum {
		t.Errorf("%+v", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawTally(t), drawTally(t)
		if got := a.Plus(b).Minus(b); got != a {
			t.Fatalf("%+v and %+v: %+v", a, b, got)
		}
	})
}
