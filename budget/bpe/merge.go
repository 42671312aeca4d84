package bpe

import "slices"

// short is the length in bytes up to which a piece is merged by looking at all its pairs.
const short = 64

// mergeShort joins neighbours within ids, which are at most short, and returns what is left.
func (e *Encoding) mergeShort(ids []uint32) []uint32 {
	var ranks [short]uint32 // of each symbol with the one after it
	for i := range len(ids) - 1 {
		ranks[i] = e.pairs.rank(ids[i], ids[i+1])
	}
	for len(ids) > 1 {
		last := len(ids) - 1
		best, at := uint32(none), 0
		for i, rank := range ranks[:last] {
			if rank < best {
				best, at = rank, i
			}
		}
		if best == none {
			break
		}
		ids[at] = e.join(ids[at], ids[at+1], best)
		copy(ids[at+1:], ids[at+2:])
		copy(ranks[at:last], ranks[at+1:last])
		ids = ids[:last]
		if at > 0 {
			ranks[at-1] = e.pairs.rank(ids[at-1], ids[at])
		}
		if at < last-1 {
			ranks[at] = e.pairs.rank(ids[at], ids[at+1])
		}
	}
	return ids
}

// merger joins the symbols of a long piece. The symbols are a doubly linked list in arrays; a
// symbol that was joined to its left neighbour leaves the list.
type merger struct {
	ids        []uint32
	ranks      []uint32 // of each symbol with the one after it
	prev, next []int32
	queue      queue
}

func newMerger(ranks int) *merger {
	return &merger{queue: newQueue(ranks)}
}

// merge returns what is left of the symbols, valid until the merger is used again.
func (m *merger) merge(e *Encoding, symbols []uint32) []uint32 {
	n := len(symbols)
	m.ids = symbols
	m.ranks = slices.Grow(m.ranks[:0], n)[:n]
	m.prev = slices.Grow(m.prev[:0], n)[:n]
	m.next = slices.Grow(m.next[:0], n)[:n]
	m.queue.reset()
	for i := range n {
		m.prev[i], m.next[i], m.ranks[i] = int32(i-1), int32(i+1), none
		if i+1 < n {
			m.rank(e, int32(i))
		}
	}
	for {
		rank, at, ok := m.queue.pop()
		if !ok {
			break
		}
		// An entry outlives its pair when one of the two was joined to another.
		if m.ranks[at] != rank {
			continue
		}
		gone := m.next[at]
		after := m.next[gone]
		m.ids[at], m.ranks[gone], m.ranks[at] = e.join(m.ids[at], m.ids[gone], rank), none, none
		m.next[at] = after
		if int(after) < n {
			m.prev[after] = at
			m.rank(e, at)
		}
		if before := m.prev[at]; before >= 0 {
			m.rank(e, before)
		}
	}
	left := 0
	for i := int32(0); int(i) < n; i = m.next[i] {
		m.ids[left] = m.ids[i]
		left++
	}
	return m.ids[:left]
}

// rank looks up the symbol and the one after it, and queues them if they join.
func (m *merger) rank(e *Encoding, at int32) {
	rank := e.pairs.rank(m.ids[at], m.ids[m.next[at]])
	m.ranks[at] = rank
	if rank != none {
		m.queue.push(rank, at)
	}
}
