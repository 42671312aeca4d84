package prompt

import (
	"testing"

	"github.com/turnstone-dev/turnstone/compress"
)

func TestGenerationsAreAMeanByTokens(t *testing.T) {
	of := func(tokens, generations int64) compress.Checkpoint {
		return compress.Checkpoint{CurrentTokens: tokens, Receipt: compress.Receipt{Generations: generations}}
	}
	for _, tt := range []struct {
		checkpoints []compress.Checkpoint
		want        int
	}{
		{nil, 0},
		{[]compress.Checkpoint{of(100, 0)}, 1},
		{[]compress.Checkpoint{of(100, 0), of(50, 1)}, 1},
		{[]compress.Checkpoint{of(100, 2)}, 2},
		{[]compress.Checkpoint{of(1000, 0), of(1, 2)}, 2}, // rounded up
		{[]compress.Checkpoint{of(100, 1), of(100, 3)}, 2},
		{[]compress.Checkpoint{of(100, 1), of(101, 3)}, 3},
		{[]compress.Checkpoint{of(0, 0)}, 1},
	} {
		if got := generations(tt.checkpoints); got != tt.want {
			t.Errorf("%+v: %d, want %d", tt.checkpoints, got, tt.want)
		}
	}
}
