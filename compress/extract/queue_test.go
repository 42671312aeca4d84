package extract

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestQueue checks the heap against sorting, while gains shrink and candidates are added.
func TestQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gains := rapid.SliceOfN(rapid.IntRange(0, 9), 1, 60).Draw(t, "gains")
		var q queue
		for i, gain := range gains {
			q = append(q, candidate{int32(i), float64(gain)})
		}
		q.order()
		for range rapid.IntRange(0, 10).Draw(t, "changes") {
			if rapid.Bool().Draw(t, "push") {
				q.push(candidate{int32(len(q)) + 100, float64(rapid.IntRange(0, 9).Draw(t, "gain"))})
			} else {
				q[0].gain /= 2
				q.down(0)
			}
		}
		want := slices.Clone(q)
		slices.SortStableFunc(want, func(a, b candidate) int {
			if a.gain != b.gain {
				return map[bool]int{true: -1, false: 1}[a.gain > b.gain]
			}
			return int(a.unit - b.unit)
		})
		for _, w := range want {
			if q[0].gain != w.gain {
				t.Fatalf("got %v, want %v", q[0], w)
			}
			q.pop()
		}
		if len(q) != 0 {
			t.Errorf("%d are left", len(q))
		}
	})
}

// TestQueueTies checks that equal gains leave in the order of the conversation.
func TestQueueTies(t *testing.T) {
	q := queue{{4, 1}, {2, 1}, {3, 1}, {1, 1}, {0, 1}}
	q.order()
	for want := range int32(5) {
		if q[0].unit != want {
			t.Errorf("unit %d, want %d", q[0].unit, want)
		}
		q.pop()
	}
}
