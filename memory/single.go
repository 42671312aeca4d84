package memory

import (
	"math/bits"
	"slices"
)

// single is [Interests] in one subject, which an input always is and the goals often are. Each of its words counts whole, so
// that the word and whether the title has it are all that there is to know: one number, found with one look.
type single struct {
	weight float64
	words  []uint64 // open addressing, at most half full; 0: none
}

// untitled is the bit that a word is kept without where the title does not have it: every word has it.
const untitled = 1 << 63

// newSingle makes interests in one subject.
func newSingle(subject *Subject) *Interests {
	g := glances.Get().(*glance)
	defer g.release()
	end := g.subject(subject)
	made := &struct {
		in  Interests
		one single
	}{one: single{weight: subject.weight()}}
	made.in.one = &made.one
	if end.all == 0 {
		return &made.in
	}
	made.one.words = make([]uint64, 1<<bits.Len(uint(2*end.all)))
	for i, word := range g.words {
		slot := made.one.slot(word)
		if i < end.titled {
			made.one.words[slot] = word
		} else if made.one.words[slot] == 0 {
			made.one.words[slot] = word &^ untitled
		}
	}
	return &made.in
}

// relevance is that of [Interests].
func (s *single) relevance(words []uint64) float64 {
	if len(s.words) == 0 {
		return 0
	}
	var matches [64]uint16
	var seen uint64 // the ends of the matches, so that most words are known to be new without looking
	found := matches[:0]
	shared := uint64(0)
	for _, word := range words {
		slot := s.slot(word)
		have := s.words[slot]
		if have == 0 || seen>>(slot&63)&1 != 0 && slices.Contains(found, uint16(slot)) {
			continue
		}
		if len(found) == len(matches) {
			break
		}
		found = append(found, uint16(slot))
		seen |= 1 << (slot & 63)
		shared += 1 + have>>63
	}
	return saturated(s.weight, float32(shared))
}

// slot returns where a word is, or the empty place where it belongs.
func (s *single) slot(word uint64) uint64 {
	mask := uint64(len(s.words) - 1)
	slot := word & mask
	for s.words[slot] != 0 && s.words[slot]|untitled != word {
		slot = (slot + 1) & mask
	}
	return slot
}
