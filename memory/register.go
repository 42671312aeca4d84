package memory

import "math/bits"

// register is a word of ASCII letters and digits of less than sixteen bytes, the first byte lowest. It is there for speed:
// stemmed and hashWord of it take no loop and hardly a branch.
type register struct{ low, high uint64 }

// Eight bytes that are all the same.
const (
	every   = 0x0101010101010101
	topBits = 0x80 * every
	small   = 0x20 * every // sets apart a small letter from the capital, and is in every digit
)

// eightAt returns eight bytes of text, the first lowest; what is behind its end is 0, which is part of no word.
func eightAt(text string, i int) uint64 {
	if i+8 <= len(text) {
		return eight(text[i : i+8])
	}
	return lastAt(text, i)
}

// eight returns the first eight bytes of a text, the first lowest.
func eight(b string) uint64 {
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// lastAt is eightAt where there are less than eight.
func lastAt(text string, i int) uint64 {
	if past := i + 8 - len(text); past < 8 && len(text) >= 8 {
		return eight(text[len(text)-8:]) >> (8 * past)
	}
	x := uint64(0)
	for at := len(text) - 1; at >= i; at-- {
		x = x<<8 | uint64(text[at])
	}
	return x
}

// wordBytes counts the ASCII letters and digits that eight bytes begin with.
func wordBytes(x uint64) int { return bits.TrailingZeros64(^wordMask(x)&topBits) / 8 }

// wordMask returns a number with the top bits of the bytes that are ASCII letters or digits. A sum carries into the top bit
// of a byte where it is at least what is looked for, and no further.
func wordMask(x uint64) uint64 {
	seven := x &^ topBits
	folded := seven | small
	letters := (folded + (0x80-'a')*every) &^ (folded + (0x7f-'z')*every)
	digits := (seven + (0x80-'0')*every) &^ (seven + (0x7f-'9')*every)
	return (letters | digits) &^ x & topBits
}

// hash is hashWord of the stem of the first n bytes, folded. What comes behind them may be anything.
func (r register) hash(n int) uint64 {
	r.low |= small
	r.high |= small
	last := r.low << ((64 - 8*n) & 63)
	if n > 8 {
		last = r.low>>((8*n-64)&63) | r.high<<((128-8*n)&63)
	}
	n = stemSize(last, n)
	h, tail := uint64(n), r.low
	if n >= 8 {
		h, tail = mix(h^r.low), r.high
	}
	// The first byte highest; half of the shift goes first, since it may be all of them.
	tail = bits.ReverseBytes64(tail) >> 1 >> (63 - 8*(n&7))
	return mix(h ^ tail*hashFactor)
}

// stemSize is how many of its n bytes stemmed leaves of a word. Its last eight bytes are given, the last one highest. How a
// word ends is what no processor foretells: what happens often is moved by condition, with no branch.
func stemSize(last uint64, n int) int {
	size := n
	if last>>56 == 's' {
		size--
		last <<= 8
	}
	cut := 0
	if last>>56 == 'e' {
		cut = 1
	}
	if last>>48 == 'd'<<8|'e' {
		cut = 2
	}
	if last>>40 == 'g'<<16|'n'<<8|'i' {
		cut = 3
	}
	if last>>40 == 'n'<<16|'o'<<8|'i' {
		cut = 3
	}
	if size-cut < 3 {
		cut = 0
	}
	size -= cut
	last <<= 8 * cut & 63
	if last>>48 == 't'<<8|'a' && cut > 0 && size >= 5 {
		size -= 2
		last <<= 16
	}
	if last>>56 == last>>48&0xff && last>>56 > '9' && size > 3 {
		size--
	}
	if n < 4 {
		size = n
	}
	return size
}
