package bpe

import (
	"hash/maphash"
	"sync/atomic"
)

// Recount is [Encoding.Count] for a text that may be counted again, as the turns of a conversation are whenever
// a prompt is made anew: it remembers the counts of the last few thousand texts. The texts themselves are not kept
// alive: one is known by 128 bits of hashes whose keys are drawn at every start.
func (e *Encoding) Recount(text string) int {
	if len(text) < leastKnown {
		return e.Count(text)
	}
	hash := maphash.String(slotKey, text)
	slot := &e.known[hash%uint64(len(e.known))]
	check := maphash.String(checkKey, text)
	if k := slot.Load(); k != nil && k.hash == hash && k.check == check {
		return k.tokens
	}
	n := e.Count(text)
	slot.Store(&known{hash, check, n})
	return n
}

// leastKnown is how many bytes a text has that takes longer to count than to look up.
const leastKnown = 128

// counts is a table in which each text has one slot, and the last text to come there owns it. So it is bounded and
// needs no lock.
type counts [4096]atomic.Pointer[known]

type known struct {
	hash, check uint64
	tokens      int
}

var slotKey, checkKey = maphash.MakeSeed(), maphash.MakeSeed()
