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

// window is how many symbols of a long piece are merged at once. They and their queue fit into the
// processor's cache, so that the cost per byte does not grow with the piece.
const window = 8 << 10

// merger joins the symbols of a long piece, a window at a time.
//
// Tokens are the right ones for a text if every two neighbours are the right ones for theirs: the
// first join across a border of two tokens would come about between these two alone as well,
// because joins elsewhere change neither their symbols nor the order of their joins. For the same
// reason neighbours that stand in a right row of tokens are right. So a window is cut at a border
// some way before its end, the next begins there, and if its first token is the one that followed
// the cut, all of it is right. If it is another, the piece is merged anew in larger windows.
type merger struct {
	window  int
	symbols []uint32 // of the piece
	tokens  []uint32 // what became of them
	queue   queue

	// The symbols of the window are a doubly linked list in arrays; one that was joined to
	// its left neighbour leaves the list.
	ids        []uint32
	ranks      []uint32 // of each symbol with the one after it
	prev, next []int32
}

func newMerger(ranks int) *merger {
	return &merger{window: window, queue: newQueue(ranks)}
}

// merge returns what is left of the symbols, valid until the merger is used again.
func (m *merger) merge(e *Encoding, symbols []uint32) []uint32 {
	m.symbols = symbols
	m.tokens = m.tokens[:0]
	size, start, first := m.window, 0, uint32(0)
	for {
		end := min(start+size, len(symbols))
		tokens, cut, at := m.join(e, symbols[start:end])
		whole := end == len(symbols)
		if start > 0 && tokens[0] != first || cut == 0 && !whole {
			m.tokens, size, start = m.tokens[:0], 4*size, 0
			continue
		}
		if whole {
			m.tokens = append(m.tokens, tokens...)
			return m.tokens
		}
		m.tokens = append(m.tokens, tokens[:cut]...)
		first = tokens[cut]
		start += at
	}
}

// join merges the symbols of one window. It also says before which of the tokens to cut, and how
// many symbols those before it are.
func (m *merger) join(e *Encoding, symbols []uint32) (tokens []uint32, cut, at int) {
	n := len(symbols)
	m.ids = append(m.ids[:0], symbols...)
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
		rank, i, ok := m.queue.pop()
		if !ok {
			break
		}
		// An entry outlives its pair when one of the two was joined to another.
		if m.ranks[i] == rank {
			m.joinAt(e, i, rank)
		}
	}
	left := 0
	for i := int32(0); int(i) < n; i = m.next[i] {
		m.ids[left] = m.ids[i]
		if int(i) <= n-n/8 {
			cut, at = left, int(i)
		}
		left++
	}
	return m.ids[:left], cut, at
}

// joinAt joins the symbol at i and the one after it.
func (m *merger) joinAt(e *Encoding, i int32, rank uint32) {
	gone := m.next[i]
	after := m.next[gone]
	m.ids[i], m.ranks[gone], m.ranks[i] = e.join(m.ids[i], m.ids[gone], rank), none, none
	m.next[i] = after
	if int(after) < len(m.ids) {
		m.prev[after] = i
		m.rank(e, i)
	}
	if before := m.prev[i]; before >= 0 {
		m.rank(e, before)
	}
}

// rank looks up the symbol and the one after it, and queues them if they join.
func (m *merger) rank(e *Encoding, i int32) {
	rank := e.pairs.rank(m.ids[i], m.ids[m.next[i]])
	m.ranks[i] = rank
	if rank != none {
		m.queue.push(rank, i)
	}
}
