package memory

import (
	"math/bits"
	"unicode"
	"unicode/utf8"
)

// glanceBytes is how much of an item is looked at when it is judged: the start of its text and, if
// that is shorter, of its data. What matters is said early, and judging stays cheap.
const glanceBytes = 1 << 10

// glance is what a quick look at a text takes in: a hash for every word that says something.
//
// It is no analyser for searching, which is internal/words: it runs inside every commit, over texts
// that are mostly thrown away, and so folds only case and cuts common English endings by rule. Two
// forms of a word that it takes for two words make an item a little less relevant, nothing more.
type glance struct {
	words  []uint64 // hashes in the order of the text, with repeats, without stop words
	action int      // how many words of those that tell what to do next
	path   bool     // it names a path, a command or a place in code
}

// read adds the first limit bytes of text and returns how many it read.
func (g *glance) read(text string, limit int) int {
	if len(text) > limit {
		text = text[:limit]
	}
	var word [maxTerm]byte
	n, before, pair := 0, byte(' '), uint64(0)
	for i := 0; i < len(text); {
		c := text[i]
		if kind := asciiClass[c]; kind != wide {
			i++
			pair = 0
			if kind != 0 {
				if n < len(word) {
					word[n] = kind
					n++
				}
			} else {
				if n > 0 {
					g.add(word[:n])
					n = 0
				}
				g.path = g.path || c == '`' || (c == '/' || c == '\\') && before > ' '
			}
			before = c
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		before = c
		switch {
		case unspaced(r):
			if n > 0 {
				g.add(word[:n])
				n = 0
			}
			if pair != 0 {
				g.words = append(g.words, mix(pair*31+uint64(r)))
			}
			pair = uint64(r)
		case unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r):
			pair = 0
			if r = unicode.ToLower(r); n+utf8.RuneLen(r) <= len(word) {
				n += utf8.EncodeRune(word[n:], r)
			}
		default:
			pair = 0
			if n > 0 {
				g.add(word[:n])
				n = 0
			}
		}
	}
	if n > 0 {
		g.add(word[:n])
	}
	return len(text)
}

// add takes a folded word in.
func (g *glance) add(word []byte) {
	h := hashWord(stemmed(word))
	if actionWords.has(h) {
		g.action++
	}
	if stopWords.has(h) {
		return
	}
	g.words = append(g.words, h)
}

// wide marks bytes outside of ASCII; every other class is the folded letter or digit, or 0.
const wide = 1

var asciiClass = func() (class [256]byte) {
	for c := range class {
		switch {
		case c >= utf8.RuneSelf:
			class[c] = wide
		case 'A' <= c && c <= 'Z':
			class[c] = byte(c) + 'a' - 'A'
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
			class[c] = byte(c)
		}
	}
	return class
}()

// unspaced reports whether r belongs to a script that is written without spaces, whose pairs of
// characters stand for words.
func unspaced(r rune) bool {
	switch {
	case r < 0x0e00:
		return false
	case r < 0x0f00, 0x1000 <= r && r < 0x10a0, 0x1780 <= r && r < 0x1800,
		0x3040 <= r && r < 0x3100, 0x3400 <= r && r < 0xa000, 0xac00 <= r && r < 0xd7b0:
		return true
	}
	return false
}

// endings are cut off words, the first that leaves three letters.
var endings = [...]string{"ations", "ation", "ating", "ated", "ates", "ate", "ions", "ion", "ings", "ing", "ed", "es", "s", "e"}

// stemmed returns the start of a folded word that its common forms share.
func stemmed(word []byte) []byte {
	if len(word) < 4 {
		return word
	}
	switch word[len(word)-1] {
	case 's', 'e', 'd', 'g', 'n': // what endings end in
		for _, ending := range endings {
			if keep := len(word) - len(ending); keep >= 3 && string(word[keep:]) == ending {
				word = word[:keep]
				break
			}
		}
	}
	if n := len(word); n > 3 && word[n-1] == word[n-2] && word[n-1] > '9' {
		word = word[:n-1] // running, runs
	}
	return word
}

// hashWord is FNV-1a, mixed: the same for the same word in every process.
func hashWord(word []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range word {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return mix(h)
}

// mix spreads a hash over all its bits and is never 0.
func mix(h uint64) uint64 {
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	h ^= h >> 32
	return h | 1<<63
}

// hashSet is a set of words by their hash: open addressing, never more than half full.
type hashSet []uint64

func newHashSet(words ...string) hashSet {
	set := make(hashSet, 1<<bits.Len(uint(2*len(words))))
	for _, word := range words {
		h := hashWord(stemmed([]byte(word)))
		i := set.slot(h)
		set[i] = h
	}
	return set
}

// slot returns where h is, or the empty place where it belongs.
func (s hashSet) slot(h uint64) int {
	i := int(h) & (len(s) - 1)
	for s[i] != 0 && s[i] != h {
		i = (i + 1) & (len(s) - 1)
	}
	return i
}

func (s hashSet) has(h uint64) bool { return s[s.slot(h)] == h }
