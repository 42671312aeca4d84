package front

import (
	"cmp"
	"container/list"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/turnstone-dev/turnstone/chain"
)

// known remembers calls by the bytes of the messages they repeat, so that of the next call only what is new has to be
// decoded: the messages of a long conversation are hashed as they came, which takes a thousandth of the time. It holds
// a bounded number of calls, those that were used last. It is safe for concurrent use.
type known struct {
	seed maphash.Seed
	most int

	mu      sync.Mutex // guards all below
	recent  *list.List // of *past, the last used first
	opening map[opening][]*past
	systems int // bytes of all their messages of the system
}

// opening is what calls of one conversation have in common: whose they are, and the first message.
type opening struct {
	tenant string
	first  uint64
}

// past is a call that was answered.
type past struct {
	opening opening
	origin  chain.Hash // where its chain begins
	size    int        // bytes of its messages, from the first that is not the system's
	sum     uint64     // of those bytes
	hash    chain.Hash
	systems []string // messages of the system that stand among them
	asked   span     // what the user said last of them
	// reply is the hash after the answer, which stands in the session as the turn of that seq.
	reply   chain.Hash
	session string
	seq     int64

	used *list.Element
}

// weight is how many bytes are kept for the messages of the system.
func (p *past) weight() (bytes int) {
	for _, text := range p.systems {
		bytes += len(text)
	}
	return bytes
}

// mostSystems bounds the bytes of the messages of the system that are kept, and no call has more than a sixteenth of it: one
// that would is read as a whole each time.
const mostSystems = 64 << 20

// perOpening bounds how many calls are remembered that begin alike.
const perOpening = 1024

func newKnown(most int) *known {
	return &known{seed: maphash.MakeSeed(), most: most, recent: list.New(), opening: map[opening][]*past{}}
}

// sum is the hash of a piece of a body.
func (k *known) sum(data []byte) uint64 { return maphash.Bytes(k.seed, data) }

// find returns the calls whose messages these begin with, the longest first, at most as many as asked for.
func (k *known) find(o opening, messages []byte, most int) []past {
	k.mu.Lock()
	all := slices.Clone(k.opening[o]) // by size
	k.mu.Unlock()
	var h maphash.Hash
	h.SetSeed(k.seed)
	done := 0
	var found []*past
	for _, p := range all {
		if p.size > len(messages) {
			break
		}
		if _, err := h.Write(messages[done:p.size]); err != nil {
			break // it never fails
		}
		if done = p.size; h.Sum64() == p.sum {
			found = append(found, p)
		}
	}
	slices.Reverse(found)
	found = found[:min(len(found), most)]
	calls := make([]past, len(found))
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, p := range found {
		k.recent.MoveToFront(p.used) // nothing where it was dropped meanwhile
		calls[i] = *p
	}
	return calls
}

// put remembers a call in place of one of the same bytes.
func (k *known) put(p past) {
	if p.weight() > mostSystems/16 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, old := range k.opening[p.opening] {
		if old.size == p.size && old.sum == p.sum && old.origin == p.origin {
			k.drop(old)
			break
		}
	}
	all := k.opening[p.opening]
	at, _ := slices.BinarySearchFunc(all, p.size, func(e *past, size int) int { return cmp.Compare(e.size, size) })
	kept := &p
	kept.used = k.recent.PushFront(kept)
	k.opening[p.opening] = slices.Insert(all, at, kept)
	k.systems += kept.weight()
	for k.recent.Len() > k.most || k.systems > mostSystems {
		k.drop(k.recent.Back().Value.(*past))
	}
	if all = k.opening[p.opening]; len(all) > perOpening {
		k.drop(all[0])
	}
}

// drop forgets a call. The caller holds mu.
func (k *known) drop(p *past) {
	k.recent.Remove(p.used)
	k.systems -= p.weight()
	all := slices.DeleteFunc(k.opening[p.opening], func(e *past) bool { return e == p })
	if len(all) == 0 {
		delete(k.opening, p.opening)
		return
	}
	k.opening[p.opening] = all
}
