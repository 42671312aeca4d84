package bpe

import (
	"container/heap"
	"math/bits"
	"slices"
)

// queue hands out places by rank, equal ranks from left to right. It rests on what a sound
// vocabulary grants, that joining two symbols gives rise to higher ranks only: there is a list
// per rank, and the lists are emptied in one sweep, each sorted by place when its turn comes.
// Ranks that come too late for the sweep, as they may with merges in an odd order, wait in a heap.
type queue struct {
	lists    []int32  // index plus one of the last entry of each rank; 0 is none
	occupied []uint64 // a bit for each list
	entries  []entry
	free     int32   // index plus one of the first entry of those to use again
	word     int     // the sweep is at this word of occupied
	rank     int     // of the places in turn, -1 before the sweep
	turn     []int32 // places that are handed out now, from done on
	done     int
	late     lateHeap
}

// entry is one place in the list of its rank.
type entry struct {
	at     int32
	before int32 // index plus one
}

func newQueue(ranks int) queue {
	return queue{lists: make([]int32, ranks), occupied: make([]uint64, ranks/64+1)}
}

// reset prepares an empty queue for a new sweep.
func (q *queue) reset() {
	q.entries, q.free = q.entries[:0], 0
	q.word, q.rank = 0, -1
	q.turn, q.done = q.turn[:0], 0
}

func (q *queue) push(rank uint32, at int32) {
	if int(rank) <= q.rank {
		heap.Push(&q.late, uint64(rank)<<32|uint64(at))
		return
	}
	i := q.free
	if i == 0 {
		q.entries = append(q.entries, entry{})
		i = int32(len(q.entries))
	} else {
		q.free = q.entries[i-1].before
	}
	q.entries[i-1] = entry{at: at, before: q.lists[rank]}
	q.lists[rank] = i
	q.occupied[rank/64] |= 1 << (rank % 64)
}

// pop returns the lowest place of the lowest rank; not ok means that the queue is empty.
func (q *queue) pop() (rank uint32, at int32, ok bool) {
	if len(q.late) > 0 && (q.done == len(q.turn) || q.late[0] < uint64(q.rank)<<32|uint64(q.turn[q.done])) {
		first := heap.Pop(&q.late).(uint64)
		return uint32(first >> 32), int32(uint32(first)), true
	}
	if q.done == len(q.turn) && !q.advance() {
		return 0, 0, false
	}
	at = q.turn[q.done]
	q.done++
	return uint32(q.rank), at, true
}

// advance makes the next rank's list the turn.
func (q *queue) advance() bool {
	for q.occupied[q.word] == 0 {
		if q.word++; q.word == len(q.occupied) {
			q.word--
			q.rank = len(q.lists) // the sweep is over: whatever comes now is late
			return false
		}
	}
	bit := bits.TrailingZeros64(q.occupied[q.word])
	q.occupied[q.word] &^= 1 << bit
	q.rank = q.word*64 + bit
	q.turn, q.done = q.turn[:0], 0
	last := q.lists[q.rank]
	q.lists[q.rank] = 0
	for i := last; i != 0; {
		e := &q.entries[i-1]
		q.turn = append(q.turn, e.at)
		next := e.before
		e.before, q.free = q.free, i
		i = next
	}
	// Mostly they were queued from left to right, and sorting finds that out at once.
	slices.Reverse(q.turn)
	slices.Sort(q.turn)
	return true
}

// lateHeap orders by rank and then place, which its numbers hold in their upper and lower half.
type lateHeap []uint64

func (h lateHeap) Len() int           { return len(h) }
func (h lateHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h lateHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *lateHeap) Push(x any)        { *h = append(*h, x.(uint64)) }
func (h *lateHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
