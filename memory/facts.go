package memory

import (
	"math"
	"math/bits"
	"slices"
)

// Facts are what a user told last, made ready to be compared with. They are [Interests] for texts of which a few are new each
// time and the others stay: only what is new is read. The zero Facts are empty. They are not safe for concurrent
// use.
type Facts struct {
	in   Interests
	told []told // as it was given the last time
	bits uint64 // those of all that is told
}

// told is a fact, and which subject of the interests it is.
type told struct {
	text string
	bit  uint64
}

// Interests returns interests that are [NewInterests] of the facts, newest first, each the title of a subject of weight 1.
// They are good until it is called again.
func (f *Facts) Interests(facts []string) *Interests {
	facts = facts[:min(len(facts), maxSubjects)]
	fresh := 0
	for !f.begins(facts[fresh:]) {
		fresh++
	}
	kept := len(facts) - fresh
	if fresh > 0 || kept < len(f.told) {
		f.forget(kept)
		f.tell(facts[:fresh])
		f.in.shares = sharesOf(len(facts))
	}
	return &f.in
}

// begins reports whether what was told begins with the facts.
func (f *Facts) begins(facts []string) bool {
	if len(facts) > len(f.told) {
		return false
	}
	for i, fact := range facts {
		if f.told[i].text != fact {
			return false
		}
	}
	return true
}

// forget drops all but the newest facts.
func (f *Facts) forget(kept int) {
	var gone uint64
	for _, t := range f.told[kept:] {
		gone |= t.bit
	}
	f.told = slices.Delete(f.told, kept, len(f.told))
	f.bits &^= gone
	if gone == 0 {
		return
	}
	for i := range f.in.entries {
		e := &f.in.entries[i]
		e.said &^= gone
		e.titled &^= gone
	}
}

// tell takes in what is new, newest first.
func (f *Facts) tell(facts []string) {
	g := glances.Get().(*glance)
	defer g.release()
	n := len(facts)
	f.told = append(f.told, make([]told, n)...)
	copy(f.told[n:], f.told)
	for i, fact := range facts {
		bit := bits.TrailingZeros64(^f.bits)
		f.bits |= 1 << bit
		f.told[i] = told{text: fact, bit: 1 << bit}
		for len(f.in.weights) <= bit {
			f.in.weights = append(f.in.weights, 1)
		}
		g.words = g.words[:0]
		g.read(fact)
		f.in.makeRoom(len(g.words))
		f.in.add(g.words, 1<<bit, 1<<bit)
	}
}

// makeRoom makes room for so many words more. Those that no subject has any more go when there is none.
func (in *Interests) makeRoom(words int) {
	if n := len(in.entries) + words; 2*n <= len(in.index) && n <= math.MaxUint16 {
		return
	}
	in.entries = slices.DeleteFunc(in.entries, func(e interest) bool { return e.said == 0 })
	// With a fourth to spare, so that it is not done again at once.
	if size := 1 << bits.Len(uint(2*(len(in.entries)+words)*5/4)); size != len(in.index) {
		in.index = make([]uint16, size)
	} else {
		clear(in.index)
	}
	for i := range in.entries {
		in.index[in.slot(in.entries[i].word)] = uint16(i + 1)
	}
}
