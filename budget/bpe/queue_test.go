package bpe

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The queue hands out what was put in, lowest first, whenever it was put in.
func TestQueue(t *testing.T) {
	const ranks = 200
	rapid.Check(t, func(t *rapid.T) {
		q := newQueue(ranks)
		for range 2 { // a merger uses its queue again and again
			checkQueue(t, &q, ranks)
		}
	})
}

func checkQueue(t *rapid.T, q *queue, ranks uint32) {
	q.reset()
	var want []uint64
	pop := func() bool {
		rank, at, ok := q.pop()
		if ok != (len(want) > 0) {
			t.Fatalf("popped %v with %d in the queue", ok, len(want))
		}
		if !ok {
			return false
		}
		i := slices.Index(want, slices.Min(want))
		if got := uint64(rank)<<32 | uint64(at); got != want[i] {
			t.Fatalf("popped %d at %d, want %d at %d", rank, at, want[i]>>32, uint32(want[i]))
		}
		want = slices.Delete(want, i, i+1)
		return true
	}
	for range rapid.IntRange(0, 100).Draw(t, "steps") {
		if rapid.IntRange(0, 2).Draw(t, "step") == 0 {
			pop()
			continue
		}
		rank := rapid.Uint32Range(0, ranks-1).Draw(t, "rank")
		at := rapid.Int32Range(0, 50).Draw(t, "at")
		q.push(rank, at)
		want = append(want, uint64(rank)<<32|uint64(at))
	}
	for pop() {
	}
}
