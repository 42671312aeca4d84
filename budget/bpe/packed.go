package bpe

import (
	_ "embed" // the packed vocabularies
	"encoding/binary"
	"math/bits"
	"sync"
)

// The files are written by the module in pack, which says what is in them.
var (
	//go:embed packed/o200k_base.bpe
	o200kBase string
	//go:embed packed/cl100k_base.bpe
	cl100kBase string
)

var (
	o200k = sync.OnceValue(func() *Encoding {
		c := characters()
		return unpack(o200kBase, func(s string) int { return c.o200k(s, 3, true) })
	})
	cl100k = sync.OnceValue(func() *Encoding {
		c := characters()
		return unpack(cl100kBase, func(s string) int { return c.cl100k(s, 3) })
	})
)

// O200k returns o200k_base, the encoding of GPT-4o and what came after it. It is built at first
// use and then shared.
func O200k() *Encoding { return o200k() }

// Cl100k returns cl100k_base, the encoding of GPT-4, GPT-3.5 and the embedding models. It is built
// at first use and then shared.
func Cl100k() *Encoding { return cl100k() }

// unpack builds an encoding. Tokens are numbered by rank, and each of them is what encoding its
// own bytes gives (pack has made sure), so that a piece that is a token needs no merging.
func unpack(packed string, split func(string) int) *Encoding {
	n := int(binary.LittleEndian.Uint32([]byte(packed[:4])))
	single := packed[4 : 4+256]
	e := &Encoding{split: split, ranks: n - 256}
	tokens := newWords(n, 8*n)
	for i := range len(single) {
		e.bytes[single[i]] = uint32(i)
		tokens.add(nil, []byte{single[i]})
	}
	r := bitReader{in: packed[4+256:]}
	halves := make([][2]uint32, n-256)
	for rank := range halves {
		width := bits.Len32(uint32(256 + rank - 1))
		left, right := r.next(width), r.next(width)
		halves[rank] = [2]uint32{left, right}
		tokens.add(tokens.at(left), tokens.at(right))
	}
	var both sync.WaitGroup
	both.Go(func() { e.whole = tokens.index() })
	both.Go(func() {
		e.pairs = newPairs(len(halves))
		for rank, h := range halves {
			e.pairs.add(h[0], h[1], uint32(rank))
		}
	})
	both.Wait()
	return e
}

// bitReader reads numbers of up to 32 bits, lowest bit first.
type bitReader struct {
	in      string
	pending uint64
	n       int
}

func (r *bitReader) next(width int) uint32 {
	if r.n < width {
		if s := r.in; len(s) >= 4 {
			r.pending |= uint64(uint32(s[0])|uint32(s[1])<<8|uint32(s[2])<<16|uint32(s[3])<<24) << r.n
			r.in, r.n = s[4:], r.n+32
		} else {
			for i := range len(s) {
				r.pending |= uint64(s[i]) << (r.n + 8*i)
			}
			r.in, r.n = "", r.n+8*len(s)
		}
	}
	x := uint32(r.pending & (1<<width - 1))
	r.pending >>= width
	r.n -= width
	return x
}
