package words

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/kljensen/snowball/english"
)

// stem reduces an English word to its stem. Anything but a run of ASCII letters
// is returned as it is, and so is what may have been cut: it was no English.
func stem(word string) string {
	if len(word) < 3 || len(word) >= maxTerm {
		return word
	}
	for i := 0; i < len(word); i++ {
		if word[i] < 'a' || word[i] > 'z' {
			return word
		}
	}
	slot := &stems[maphash.String(stemSeed, word)%uint64(len(stems))]
	if known := slot.Load(); known != nil && known.word == word {
		return known.stem
	}
	// The word is cloned so that the table never keeps a whole text alive.
	known := &stemmed{word: strings.Clone(word)}
	known.stem = english.Stem(known.word, true)
	slot.Store(known)
	return known.stem
}

// stems remembers the stems of words: stemming takes over a microsecond, and
// people use few words often. Each word has one slot, and the last word to
// come there owns it, so the table is bounded and needs no lock.
var (
	stems    [8192]atomic.Pointer[stemmed]
	stemSeed = maphash.MakeSeed()
)

type stemmed struct{ word, stem string }
