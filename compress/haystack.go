package compress

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// haystack is a text in which many literals are looked for.
type haystack struct {
	text string
	// last is the number, from 1, of the last place of every word that a literal can begin with.
	last   map[string]int32
	places []wordPlace
}

// wordPlace is where a word stands, and the number of the place of the same word before it, or 0.
type wordPlace struct{ at, before int32 }

func newHaystack(text string) *haystack {
	h := &haystack{text: text, last: make(map[string]int32, len(text)/8), places: make([]wordPlace, 0, len(text)/4)}
	inside := false
	for at, r := range text {
		if !inside {
			word := leading(text[at:])
			h.places = append(h.places, wordPlace{int32(at), h.last[word]})
			h.last[word] = int32(len(h.places))
		}
		inside = joins(r)
	}
	return h
}

// leading returns the word that a text begins with, or the character if that is part of none.
func leading(text string) string {
	for i, r := range text {
		if joins(r) {
			continue
		}
		if i == 0 {
			_, i = utf8.DecodeRuneInString(text)
		}
		return text[:i]
	}
	return text
}

// holds reports whether the text has a literal that is not a part of a longer word.
func (h *haystack) holds(literal string) bool {
	if literal == "" {
		return false
	}
	for n := h.last[leading(literal)]; n > 0; n = h.places[n-1].before {
		at := int(h.places[n-1].at)
		if strings.HasPrefix(h.text[at:], literal) && !continued(h.text[at+len(literal):]) {
			return true
		}
	}
	return false
}

// continued reports whether what follows a literal makes it a part of something longer.
func continued(rest string) bool {
	next, size := utf8.DecodeRuneInString(rest)
	return joins(next) || next == '.' && size < len(rest) && joins(rune(rest[size]))
}

// joins reports whether a character beside a literal makes it a part of something longer.
func joins(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '/')
}
