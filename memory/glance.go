package memory

import (
	"encoding/binary"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"
)

// How much of an item is looked at when it is judged: the start of its text, where what matters is
// said, and four places of its data, spread over it, which is enough to tell it from others.
const (
	glanceBytes = 1 << 10
	sampleBytes = 64
)

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

// glances are kept from one use to the next, with the room for their words.
var glances = sync.Pool{New: func() any { return &glance{words: make([]uint64, 0, 256)} }}

// release gives the glance to others. Its words are theirs then.
func (g *glance) release() {
	*g = glance{words: g.words[:0]}
	glances.Put(g)
}

// sample adds four places of data, or all of it where it is short.
func (g *glance) sample(data string) {
	if len(data) <= 4*sampleBytes {
		g.read(data)
		return
	}
	for i := range 4 {
		at := (len(data) - sampleBytes) / 3 * i
		g.read(data[at : at+sampleBytes])
	}
}

// read adds the first glanceBytes of text. A word of up to fifteen ASCII letters and digits is taken in two registers
// (see [register]); others are spelled.
func (g *glance) read(text string) {
	if len(text) > glanceBytes {
		text = text[:glanceBytes]
	}
	// A word and what ends it are two bytes at least.
	g.words = slices.Grow(g.words, len(text)/2+1)
	words, n, action := g.words[:cap(g.words)], len(g.words), uint64(0)
	for i := 0; i < len(text); {
		low, high := eightAt(text, i), uint64(0)
		size := wordBytes(low)
		if size == 8 {
			high = eightAt(text, i+8)
			size += wordBytes(high)
		}
		end, next := i+size, byte(0)
		if end < len(text) {
			next = text[end]
		}
		if mark := marks[next]; mark != 0 || size == 16 {
			if mark == wide || size == 16 {
				g.words = words[:n]
				i = g.spell(text, i)
				n = len(g.words)
				continue
			}
			g.path = g.path || mark == quote || end > 0 && text[end-1] > ' '
		}
		i = end + 1
		if size == 0 {
			continue
		}
		h := register{low, high}.hash(size)
		kinds := knownWords.kinds(h)
		action += kinds / actionWord & 1
		// What is no word of its own is written over: half of all words are stop words, which no branch foretells.
		words[n] = h
		n += 1 - int(kinds/stopWord&1)
	}
	g.words = words[:n]
	g.action += int(action)
}

// spell adds what begins at i, rune by rune, through the next ASCII character that ends a word, and returns where that ends.
func (g *glance) spell(text string, i int) int {
	var word [maxTerm]byte
	n, pair := 0, uint64(0)
	for i < len(text) {
		c := text[i]
		if kind := asciiClass[c]; kind != wide {
			i++
			if kind == 0 {
				g.path = g.path || marks[c] != 0 // it is behind what was spelled
				break
			}
			pair = 0
			if n < len(word) {
				word[n] = kind
				n++
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
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
	return i
}

// add takes a folded word in.
func (g *glance) add(word []byte) {
	h := hashWord(stemmed(word))
	kinds := knownWords.kinds(h)
	if kinds&actionWord != 0 {
		g.action++
	}
	if kinds&stopWord == 0 {
		g.words = append(g.words, h)
	}
}

// marks are what characters between words may be: outside of ASCII, or a sign of a path or a command.
var marks = func() (marks [256]byte) {
	marks['`'], marks['/'], marks['\\'] = quote, slash, slash
	for c := utf8.RuneSelf; c < len(marks); c++ {
		marks[c] = wide
	}
	return marks
}()

const (
	quote = 2
	slash = 3 // counts behind something that can be seen
)

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

// stemmed returns the start of a folded word that its common forms share: it cuts a plural s, then
// ing, ed, ion or e, and then at (migrates, migration), each where three letters are left, and
// a doubled last letter (running).
func stemmed(word []byte) []byte {
	n := len(word)
	if n < 4 {
		return word
	}
	if word[n-1] == 's' {
		n--
	}
	cut := n
	switch word[n-1] {
	case 'e':
		cut = n - 1
	case 'd':
		if word[n-2] == 'e' {
			cut = n - 2
		}
	case 'g':
		if word[n-2] == 'n' && word[n-3] == 'i' {
			cut = n - 3
		}
	case 'n':
		if word[n-2] == 'o' && word[n-3] == 'i' {
			cut = n - 3
		}
	}
	if cut >= 3 && cut < n {
		n = cut
		if n >= 5 && word[n-1] == 't' && word[n-2] == 'a' {
			n -= 2
		}
	}
	if n > 3 && word[n-1] == word[n-2] && word[n-1] > '9' {
		n--
	}
	return word[:n]
}

// hashWord is the same for the same word in every process. It takes eight bytes at a time: most words
// are no longer.
func hashWord(word []byte) uint64 {
	h := uint64(len(word))
	for len(word) >= 8 {
		h = mix(h ^ binary.LittleEndian.Uint64(word))
		word = word[8:]
	}
	tail := uint64(0)
	if len(word) > 0 && cap(word) >= 8 {
		// What lies behind the word is shifted out.
		tail = binary.BigEndian.Uint64(word[:8]) >> (64 - 8*len(word))
	} else {
		for _, c := range word {
			tail = tail<<8 | uint64(c)
		}
	}
	return mix(h ^ tail*hashFactor)
}

const hashFactor = 0x9e3779b97f4a7c15

// mix spreads a hash over all its bits and is never 0.
func mix(h uint64) uint64 {
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	h ^= h >> 32
	return h | 1<<63
}
