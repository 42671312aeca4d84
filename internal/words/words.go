// Package words is the one text analyser: it turns text into the terms that
// are stored in every full-text index and looked up by every search, so that a
// search means the same on all stores.
//
// Text is folded first: case, compatibility forms and accents are removed, so
// that "Café", "cafe\u0301" and "CAFE" are one word (see fold). What remains is
// cut into terms:
//
//   - A word is a run of letters and digits with their marks. Everything else
//     separates words: foo_bar, a/b.go and v1.2.3 become their parts, which a
//     search for all terms finds again. fooBar stays one word, for so does the
//     person who searches for it.
//   - An apostrophe inside a word is dropped (don't becomes dont), except after
//     what French and Italian elide (l'été becomes l and ete).
//   - A word of ASCII letters is reduced to its English stem. No word is left out.
//   - Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese are written
//     without reliable spaces: a run of them becomes its overlapping pairs of
//     characters, each with its marks. A run of one character is a term of its
//     own; a search for a single character finds only those.
//   - Emoji, and numbers that are drawn as symbols, are terms of their own.
//
// A term is valid UTF-8 of 1 to 64 bytes: ASCII letters in lower case, ASCII
// digits and characters outside of ASCII, never ASCII punctuation or space. A
// longer word is cut. Terms are no text to analyse again: a stem may have
// another stem.
package words

import (
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"
)

// maxTerm bounds a term in bytes: what is longer was never a word.
const maxTerm = 64

// Terms returns the terms of text in the order they appear, with repeats. It
// takes time and memory linear in the length of text. Bytes that are not UTF-8
// separate words. The caller owns the slice. Safe for concurrent use.
func Terms(text string) []string {
	s := splitter{text: fold(text)}
	s.terms = make([]string, 0, len(s.text)/6+1) // about what prose needs
	s.split()
	return s.terms
}

// Set returns the terms of text sorted by their bytes, each once. The caller
// owns the slice. Safe for concurrent use.
func Set(text string) []string {
	seen := seenPool.Get().(*[seenWords]string)
	s := splitter{text: fold(text), seen: seen}
	s.terms = make([]string, 0, len(s.text)/12+1)
	s.split()
	clear(seen[:]) // the words hold on to the text
	seenPool.Put(seen)
	sortTerms(s.terms)
	return slices.Compact(s.terms)
}

// seenWords is how many words Set remembers, so that those that come again and
// again are neither stemmed nor sorted each time.
const seenWords = 512

var seenPool = sync.Pool{New: func() any { return new([seenWords]string) }}

// class is what a character of folded text does to the run it stands in.
type class uint8

const (
	gap      class = iota // ends the run
	letter                // belongs to a word: letters and digits
	mark                  // belongs to the character before it
	unspaced              // belongs to a run that is cut into pairs
	single                // a term of its own
	apostrophe
)

func classify(r rune) class {
	switch {
	case r < utf8.RuneSelf:
		return asciiClass[r]
	// The blocks most text is written in need no table.
	case 'а' <= r && r <= 'я':
		return letter
	case '一' <= r && r <= '\u9fff' || '가' <= r && r <= '힣' || 'ぁ' <= r && r <= 'ゖ' || 'ァ' <= r && r <= 'ヺ':
		return unspaced
	case r == '’' || r == '\u02bc':
		return apostrophe
	case unicode.IsLetter(r):
		// The long vowel mark belongs to both kana and is in neither table.
		if r >= firstUnspaced && (r == 'ー' || unicode.In(r, unspacedScripts...)) {
			return unspaced
		}
		return letter
	case unicode.IsMark(r):
		return mark
	case unicode.Is(unicode.Nd, r) || unicode.Is(unicode.Nl, r):
		return letter
	case unicode.Is(unicode.No, r) || emoji(r):
		return single
	}
	return gap
}

var asciiClass = func() (classes [utf8.RuneSelf]class) {
	for c := byte('a'); c <= 'z'; c++ {
		classes[c] = letter
	}
	for c := byte('0'); c <= '9'; c++ {
		classes[c] = letter
	}
	classes['\''] = apostrophe
	return classes
}()

// firstUnspaced is the first character of the unspaced scripts: the letters
// before it need not be looked up.
const firstUnspaced = '\u0e00'

var unspacedScripts = []*unicode.RangeTable{
	unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// emoji reports whether r is a symbol people search for, unlike the arrows,
// bullets and box drawings that fill logs and tables.
func emoji(r rune) bool {
	return ('\u2600' <= r && r <= '\u27bf' || r >= 0x1f000) && unicode.Is(unicode.So, r)
}

// splitter cuts folded text into terms. Terms are substrings of the text
// wherever they can be.
type splitter struct {
	text  string
	terms []string
	// seen, unless it is nil, are words of which the terms are there already, by
	// their hash.
	seen *[seenWords]string
}

func (s *splitter) split() {
	for i := 0; i < len(s.text); {
		if c := s.text[i]; c < utf8.RuneSelf {
			if asciiClass[c] == letter {
				i = s.plainWord(i)
			} else {
				i++
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(s.text[i:])
		switch classify(r) {
		case letter:
			i = s.word(i)
		case unspaced:
			i = s.pairs(i)
		case single:
			s.terms = append(s.terms, s.text[i:i+size])
			i += size
		default:
			i += size
		}
	}
}

// plainWord is word for one that starts with an ASCII letter or digit: most have
// nothing else.
func (s *splitter) plainWord(start int) int {
	i, hash := start, uint32(0)
	for ; i < len(s.text); i++ {
		c := s.text[i]
		if c >= utf8.RuneSelf || asciiClass[c] == apostrophe {
			return s.word(start)
		}
		if asciiClass[c] == gap {
			break
		}
		hash = (hash ^ uint32(c)) * 0x01000193
	}
	word := s.text[start:i]
	if s.seen != nil {
		slot := &s.seen[(hash^hash>>15)%seenWords]
		if *slot == word {
			return i
		}
		*slot = word
	}
	s.terms = append(s.terms, stem(cut(word)))
	return i
}

// word adds the word that starts at offset i and returns the offset after it.
func (s *splitter) word(i int) int {
	joined, start := "", i
	for i < len(s.text) {
		r, size := utf8.DecodeRuneInString(s.text[i:])
		c := classify(r)
		if c == apostrophe {
			next, _ := utf8.DecodeRuneInString(s.text[i+size:])
			if classify(next) != letter || joined == "" && elided(s.text[start:i]) {
				break
			}
			if len(joined) <= maxTerm {
				joined += s.text[start:i]
			}
			start = i + size
		} else if c != letter && c != mark {
			break
		}
		i += size
	}
	s.terms = append(s.terms, stem(cut(joined+s.text[start:i])))
	return i
}

// elided reports whether French or Italian shorten a word to this before an
// apostrophe.
func elided(word string) bool {
	switch word {
	case "c", "d", "j", "l", "m", "n", "s", "t", "qu":
		return true
	}
	return false
}

// pairs adds the overlapping pairs of the unspaced run that starts at offset i
// and returns the offset after it.
func (s *splitter) pairs(i int) int {
	previous, current, n := i, i, 0
	for i < len(s.text) {
		r, size := utf8.DecodeRuneInString(s.text[i:])
		c := classify(r)
		if c == unspaced {
			if n > 1 {
				s.terms = append(s.terms, cut(s.text[previous:i]))
			}
			previous, current = current, i
			n++
		} else if c != mark {
			break
		}
		i += size
	}
	s.terms = append(s.terms, cut(s.text[previous:i]))
	return i
}

// cut shortens a term that is too long, at the start of a character.
func cut(term string) string {
	if len(term) <= maxTerm {
		return term
	}
	end := maxTerm
	for !utf8.RuneStart(term[end]) {
		end--
	}
	return term[:end]
}
