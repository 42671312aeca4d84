package bpe

import (
	"hash/maphash"
	"math/bits"
	"math/rand/v2"
)

// words finds tokens by their bytes. Slots are addressed by a hash that is seeded anew for every
// table, so that no vocabulary can be made up to fall into one of them.
type words struct {
	seed    maphash.Seed
	slots   []uint32 // upper bits of the hash, and the token's place plus one; 0 is free
	text    []byte   // all tokens, one after the other
	ends    []uint32 // where the token at a place ends in text
	ids     []uint32 // the token at a place; nil if it has the same number
	longest int
}

// newWords returns a table with room for n tokens of size bytes in all, to which tokens are added
// before it is indexed.
func newWords(n, size int) *words {
	return &words{
		text: make([]byte, 0, size),
		ends: append(make([]uint32, 0, n+1), 0),
	}
}

// add adds a token that is not there yet, in two halves.
func (w *words) add(left, right []byte) {
	w.text = append(append(w.text, left...), right...)
	w.ends = append(w.ends, uint32(len(w.text)))
	w.longest = max(w.longest, len(left)+len(right))
}

// index makes the tokens findable. It is apart from add because a tight loop keeps many of its
// cache misses in flight at once.
func (w *words) index() *words {
	w.seed = maphash.MakeSeed()
	n := len(w.ends) - 1
	w.slots = make([]uint32, tableSize(n))
	touch(w.slots)
	mask := uint64(len(w.slots) - 1)
	for place := range n {
		h := maphash.Bytes(w.seed, w.at(uint32(place)))
		i := h & mask
		for w.slots[i] != 0 {
			i = (i + 1) & mask
		}
		w.slots[i] = tag(h) | uint32(place) + 1
	}
	return w
}

// placeMask is the part of a slot of words that holds a place plus one, of which there are as many as tokens.
const placeMask = 1<<(idBits+1) - 1

// tag is the part of a hash that a slot of words holds. It is apart from the part that addresses the slot.
func tag(hash uint64) uint32 { return uint32(hash>>32) &^ placeMask }

// touch writes to every page of a new table. Filling it in the order of hashes reads a slot before it writes to it, and a
// page that is read first is mapped twice, which a process of a moment notices.
func touch[T any](slots []T) { clear(slots) }

// tableSize is a power of two that n entries fill to between 3/8 and 3/4.
func tableSize(n int) int {
	return 1 << bits.Len(uint(n+n/3))
}

// at returns the token at a place, in the order of adding.
func (w *words) at(place uint32) []byte {
	return w.text[w.ends[place]:w.ends[place+1]]
}

// find returns the id of a token.
func (w *words) find(token string) (id uint32, ok bool) {
	if len(token) > w.longest {
		return 0, false
	}
	h := maphash.String(w.seed, token)
	mask := uint64(len(w.slots) - 1)
	for i := h & mask; w.slots[i] != 0; i = (i + 1) & mask {
		slot := w.slots[i]
		if slot&^placeMask != tag(h) {
			continue
		}
		place := slot&placeMask - 1
		if string(w.at(place)) == token {
			if w.ids == nil {
				return place, true
			}
			return w.ids[place], true
		}
	}
	return 0, false
}

// Widths of what a slot of pairs holds. They bound how large a vocabulary may be.
const (
	idBits   = 20
	rankBits = 24
)

// none is the rank of two tokens that do not join.
const none = 1<<32 - 1

// pairs finds the rank of two neighbouring tokens.
type pairs struct {
	slots      []uint64 // left, right, and the rank plus one; 0 is free
	multiplier uint64   // odd, at random for the reason that words has a seed
	shift      uint8
}

func newPairs(n int) *pairs {
	size := tableSize(n)
	slots := make([]uint64, size)
	touch(slots)
	return &pairs{
		slots:      slots,
		multiplier: rand.Uint64() | 1,
		shift:      uint8(64 - bits.Len(uint(size-1))),
	}
}

// add gives the pair a rank and reports whether it had none.
func (p *pairs) add(left, right, rank uint32) bool {
	key := uint64(left)<<idBits | uint64(right)
	mask := uint64(len(p.slots) - 1)
	i := key * p.multiplier >> p.shift
	for ; p.slots[i] != 0; i = (i + 1) & mask {
		if p.slots[i]>>rankBits == key {
			return false
		}
	}
	p.slots[i] = key<<rankBits | uint64(rank) + 1
	return true
}

// rank returns none for a pair that was not added.
func (p *pairs) rank(left, right uint32) uint32 {
	key := uint64(left)<<idBits | uint64(right)
	mask := uint64(len(p.slots) - 1)
	for i := key * p.multiplier >> p.shift; p.slots[i] != 0; i = (i + 1) & mask {
		if p.slots[i]>>rankBits == key {
			return uint32(p.slots[i]&(1<<rankBits-1)) - 1
		}
	}
	return none
}
