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
// known to be nothing new: about six kilobytes, however long the items were. The zero Recent is
// empty. It is not safe for concurrent use; [Select] only reads it.
type Recent struct {
	// Rings once they are full, of the same length. They are apart because every comparison reads all the bins, and
	// hardly one what is exact.
	bins  []bins
	exact []uint64
	next  int
	size  int // of the rings; 0: RecentSize
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
func (r *Recent) Len() int { return len(r.bins) }

func (r *Recent) add(l likeness) {
	if size := cmp.Or(r.size, RecentSize); len(r.bins) < size {
		r.bins, r.exact = append(r.bins, l.bins), append(r.exact, l.exact)
		return
	}
	r.bins[r.next], r.exact[r.next] = l.bins, l.exact
	r.next = (r.next + 1) % len(r.bins)
}

// nearest returns the highest similarity to an item that is remembered, from 0 to 1: the share of the bins a word of either
// fell into in which both have the same.
func (r *Recent) nearest(l *likeness) float64 {
	if r == nil {
		return 0
	}
	filled := l.bins.filled()
	mine := filled.count()
	same, either := 0, 1
	// One that has no more in common than this is not nearer, even if no word of it fell anywhere else. Where no word fell
	// anywhere, none is near but what is exactly the same.
	least := 0
	if mine == 0 {
		least = -1
	}
	for i := range r.bins {
		n := l.bins.common(&r.bins[i], filled)
		if n <= least {
			continue
		}
		if r.exact[i] == l.exact {
			return 1 // it has all in common, and is looked at unless another has
		}
		theirs := r.bins[i].filled()
		if all := (bins{filled[0] | theirs[0], filled[1] | theirs[1]}).count(); n*either > same*all {
			same, either = n, all
			least = same * mine / either
		}
	}
	return float64(same) / float64(either)
}

// bins are those of a [likeness]: 16 bytes.
type bins [2]uint64

// filled returns the top bits of those that a word fell into.
func (b bins) filled() bins { return bins{topBits &^ zeroBytes(b[0]), topBits &^ zeroBytes(b[1])} }

// count counts those of which but the top bits are set.
func (b bins) count() int { return int((b[0]>>7 + b[1]>>7) * every >> 56) } // eight counters, added up

// common counts those of the filled ones that are the same in others: zeroBytes of what differs, where it is filled.
func (b *bins) common(o *bins, filled bins) int {
	x, y := b[0]^o[0], b[1]^o[1]
	return bins{
		filled[0] &^ ((x&^topBits + (topBits - every)) | x),
		filled[1] &^ ((y&^topBits + (topBits - every)) | y),
	}.count()
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
	bins  bins   // 0: no word fell there
	exact uint64 // equal for the same text and data, in this process
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
	l := likeness{exact: maphash.String(likenessSeed, text)}
	if data != "" {
		l.exact = l.exact*31 + maphash.String(likenessSeed, data)
	}
	for ; filled != 0; filled &= filled - 1 {
		i := bits.TrailingZeros16(filled)
		l.bins[i/8] |= (lowest[i]>>8%255 + 1) << (i % 8 * 8)
	}
	return l
}
