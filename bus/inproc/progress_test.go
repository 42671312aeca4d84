package inproc

import (
	"testing"

	"pgregory.net/rapid"
)

// TestProgressIsTheLowestThatIsMissing settles rising numbers with gaps in any order.
func TestProgressIsTheLowestThatIsMissing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		begin := rapid.Int64Range(0, 1000).Draw(t, "begin")
		p := newProgress(begin)
		var numbers []int64
		last := begin
		for _, step := range rapid.SliceOfN(rapid.Int64Range(1, 3), 1, 50).Draw(t, "steps") {
			last += step
			numbers = append(numbers, last)
			p.take(last)
		}
		settled := make(map[int64]bool)
		for _, n := range rapid.Permutation(numbers).Draw(t, "order") {
			p.settle(n)
			p.settle(n) // again, as when the update failed
			settled[n] = true
			want := begin
			for _, m := range numbers {
				if !settled[m] {
					break
				}
				want = m
			}
			if got := p.reached(); got != want {
				t.Fatalf("reached %d, want %d", got, want)
			}
		}
		if len(p.settled) != 0 || len(p.taken) != 0 {
			t.Fatalf("left over: %v %v", p.settled, p.taken)
		}
	})
}
