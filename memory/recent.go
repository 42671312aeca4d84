package memory

import (
	"hash/maphash"
	"math/bits"
)

// RecentSize is how many items [Recent] remembers.
const RecentSize = 256

// Recent remembers what the last 256 items of a session were like, so that what is said again is
// known to be nothing new: about ten kilobytes, however long the items were. The zero Recent is
// empty. It is not safe for concurrent use; [Select] only reads it.
type Recent struct {
	likes []likeness // a ring once it is full
	next  int
}

// Add takes an item in. The oldest falls out.
func (r *Recent) Add(e *Episode) { r.add(likenessOf(e.Text, e.Data)) }

// AddRow takes an item in as a store keeps it. To fill an empty Recent, add the newest row last.
func (r *Recent) AddRow(row *Row) { r.add(likenessOf(row.Text, row.Data)) }

// Len returns how many items are remembered.
func (r *Recent) Len() int { return len(r.likes) }

func (r *Recent) add(l likeness) {
	if len(r.likes) < RecentSize {
		r.likes = append(r.likes, l)
		return
	}
	r.likes[r.next] = l
	r.next = (r.next + 1) % RecentSize
}

// nearest returns the highest similarity to an item that is remembered, from 0 to 1.
func (r *Recent) nearest(l *likeness) float64 {
	if r == nil {
		return 0
	}
	best := 0.0
	for i := range r.likes {
		if r.likes[i].exact == l.exact {
			return 1
		}
		if same := l.similarity(&r.likes[i]); same > best {
			best = same
		}
	}
	return best
}

// likeness is a sketch of an item's words that can be compared with others: the words fall into 32
// bins by their hash, and each bin keeps a byte of its smallest (one-permutation minwise hashing). The
// share of bins that agree estimates the share of words that two items have in common, to about a
// tenth.
type likeness struct {
	bins  [4]uint64 // 32 bytes; 0: no word fell there
	exact uint64    // equal for the same text and data, in this process
}

var likenessSeed = maphash.MakeSeed()

func likenessOf(text, data string) likeness {
	var buffer [192]uint64
	g := glance{words: buffer[:0]}
	if read := g.read(text, glanceBytes); read < glanceBytes {
		g.read(data, glanceBytes-read)
	}
	return sketch(g.words, text, data)
}

func sketch(words []uint64, text, data string) likeness {
	var lowest [32]uint64
	for _, word := range words {
		bin := &lowest[word>>1&31]
		if value := mix(word); *bin == 0 || value < *bin {
			*bin = value
		}
	}
	l := likeness{exact: maphash.String(likenessSeed, text)}
	if data != "" {
		l.exact = l.exact*31 + maphash.String(likenessSeed, data)
	}
	for i, value := range lowest {
		if value != 0 {
			l.bins[i/8] |= (value>>8&0xff | 1) << (i % 8 * 8)
		}
	}
	return l
}

// similarity estimates the share of words in common. Without words there is none.
func (l *likeness) similarity(o *likeness) float64 {
	equal, empty := 0, 0
	for i, bins := range l.bins {
		equal += zeroBytes(bins ^ o.bins[i])
		empty += zeroBytes(bins | o.bins[i])
	}
	if empty == 32 {
		return 0
	}
	return float64(equal-empty) / float64(32-empty)
}

// zeroBytes counts the bytes that are 0, eight at a time.
func zeroBytes(v uint64) int {
	const low7 = 0x7f7f7f7f7f7f7f7f
	return bits.OnesCount64(^((v&low7 + low7) | v | low7))
}
