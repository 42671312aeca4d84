package memory

import (
	"cmp"
	"hash/maphash"
	"math"
	"math/bits"
)

// RecentSize is how many items [Recent] remembers.
const RecentSize = 256

// Recent remembers what the last 256 items of a session were like, so that what is said again is
// known to be nothing new: about eight kilobytes, however long the items were. The zero Recent is
// empty. It is not safe for concurrent use; [Select] only reads it.
type Recent struct {
	likes []likeness // a ring once it is full
	next  int
	size  int // of the ring; 0: RecentSize
}

// Add takes an item in. The oldest falls out.
func (r *Recent) Add(e *Episode) { r.add(likenessOf(e.Text, e.Data)) }

// AddSelected takes in what a selection kept: what Add would do for each, without reading them again.
func (r *Recent) AddSelected(s *Selected) {
	for _, l := range s.likes {
		r.add(l)
	}
}

// AddRow takes an item in as a store keeps it. To fill an empty Recent, add the newest row last.
func (r *Recent) AddRow(row *Row) { r.add(likenessOf(row.Text, wholeData(row.Text, row.Data))) }

// Len returns how many items are remembered.
func (r *Recent) Len() int { return len(r.likes) }

func (r *Recent) add(l likeness) {
	if size := cmp.Or(r.size, RecentSize); len(r.likes) < size {
		r.likes = append(r.likes, l)
		return
	}
	r.likes[r.next] = l
	r.next = (r.next + 1) % len(r.likes)
}

// nearest returns the highest similarity to an item that is remembered, from 0 to 1: the share of the bins a word of either
// fell into in which both have the same.
func (r *Recent) nearest(l *likeness) float64 {
	if r == nil {
		return 0
	}
	filled := [2]uint64{topBits &^ zeroBytes(l.bins[0]), topBits &^ zeroBytes(l.bins[1])}
	mine := bits.OnesCount16(l.filled)
	same, either := 0, 1
	for i := range r.likes {
		o := &r.likes[i]
		if o.exact == l.exact {
			return 1
		}
		common := zeroBytes(l.bins[0]^o.bins[0])&filled[0]>>7 + zeroBytes(l.bins[1]^o.bins[1])&filled[1]>>7 // eight counters
		n := int(common * every >> 56)
		if n*either <= same*mine {
			continue // it is not nearer, even if no word of it fell anywhere else
		}
		if all := bits.OnesCount16(l.filled | o.filled); n*either > same*all {
			same, either = n, all
		}
	}
	return float64(same) / float64(either)
}

// zeroBytes returns a number with the top bits of the bytes that are 0.
func zeroBytes(x uint64) uint64 {
	return ^((x&^topBits + (topBits - every)) | x) & topBits
}

// likeness is a sketch of an item's words that can be compared with others: the words fall into 16
// bins by their hash, and each bin keeps a byte of its smallest (one-permutation minwise hashing). The
// share of bins that agree estimates the share of words that two items have in common, to about an
// eighth, which moves the importance by less than 0.02.
type likeness struct {
	bins   [2]uint64 // 16 bytes; 0: no word fell there
	filled uint16    // a bit for each bin a word fell into
	exact  uint64    // equal for the same text and data, in this process
}

var likenessSeed = maphash.MakeSeed()

func likenessOf(text, data string) likeness {
	g := glances.Get().(*glance)
	defer g.release()
	g.read(text)
	g.sample(data)
	return sketch(g.words, text, data)
}

func sketch(words []uint64, text, data string) likeness {
	var lowest [16]uint64
	for i := range lowest {
		lowest[i] = math.MaxUint64
	}
	filled := uint16(0)
	for _, word := range words {
		bin := word & 15
		lowest[bin] = min(lowest[bin], mix(word))
		filled |= 1 << bin
	}
	l := likeness{filled: filled, exact: maphash.String(likenessSeed, text)}
	if data != "" {
		l.exact = l.exact*31 + maphash.String(likenessSeed, data)
	}
	for ; filled != 0; filled &= filled - 1 {
		i := bits.TrailingZeros16(filled)
		l.bins[i/8] |= (lowest[i]>>8%255 + 1) << (i % 8 * 8)
	}
	return l
}
