package words

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fold brings every way to write the same letters to one: lower case, no
// compatibility forms (ﬁ, Ａ, ｶﾞ), composed characters, no accents.
//
// It normalises with x/text, which is linked already by the PostgreSQL driver:
// without it "café" typed on one system would not be found by "café" typed on
// another, and no table of ours would stay as right. Accents are removed where
// people leave them out when they search: after Latin, Greek, Hebrew and Arabic
// letters. Elsewhere marks are letters by another name (й is no и, が no か, and
// Devanagari writes its vowels as marks), so they stay.
//
// A symbol that stands for letters or digits (™, ², ㎏) becomes a word of its
// own, or "Acme™" would become acmetm.
//
// The result is valid UTF-8 and contains no ASCII capitals.
func fold(text string) string {
	i := 0
	for i < len(text) && text[i] < utf8.RuneSelf && !('A' <= text[i] && text[i] <= 'Z') {
		i++
	}
	if i == len(text) {
		return text
	}
	// Normalisation takes text with broken bytes for normal.
	text = strings.ToValidUTF8(text, " ")
	f := folder{out: make([]byte, 0, len(text)+16)}
	f.out = append(f.out, text[:i]...)
	for i < len(text) {
		c := text[i]
		if c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			f.out = append(f.out, c)
			i++
			continue
		}
		start := i
		for i < len(text) && text[i] >= utf8.RuneSelf {
			i++
		}
		f.run(text[start:i])
	}
	return string(f.out)
}

// folder collects folded text. A run of characters outside of ASCII can be
// folded without its neighbours: all that could combine with ASCII is dropped.
type folder struct {
	out     []byte
	scratch []byte
}

// run folds a run outside of ASCII, setting apart the symbols that
// normalisation would turn into letters or digits.
func (f *folder) run(s string) {
	// Marks on ASCII letters and on nothing go here, cheaply: text from some
	// systems has all its accents like that.
	s = strings.TrimLeftFunc(s, unicode.IsMark)
	if norm.NFKC.IsNormalString(s) {
		f.piece(s)
		return
	}
	start := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if c := classify(r); c == single || c == gap && unicode.Is(unicode.So, r) {
			f.normalise(s[start:i])
			f.out = append(f.out, ' ')
			f.normalise(s[i : i+size])
			f.out = append(f.out, ' ')
			start = i + size
		}
		i += size
	}
	f.normalise(s[start:])
}

func (f *folder) normalise(s string) {
	f.scratch = norm.NFKC.AppendString(f.scratch[:0], s)
	f.piece(string(f.scratch))
}

// piece folds normalised text.
func (f *folder) piece(s string) {
	start := len(f.out)
	keepMarks, dropped := false, false
	for i, r := range s {
		switch c := classify(r); {
		case r < utf8.RuneSelf:
			keepMarks = false
			f.out = utf8.AppendRune(f.out, unicode.ToLower(r))
		case c == unspaced:
			keepMarks = true
			f.out = utf8.AppendRune(f.out, r)
		case r == '\u0640': // stretches Arabic words
		case c == letter:
			if keepMarks = !accented(r); keepMarks {
				f.out = utf8.AppendRune(f.out, unicode.ToLower(r))
			} else {
				f.base(s[i:])
			}
		case c == mark:
			if keepMarks && !unicode.In(r, unicode.Me, unicode.Variation_Selector) {
				f.out = utf8.AppendRune(f.out, r)
			} else {
				dropped = true
			}
		case unicode.Is(unicode.Cf, r) && r != '\u200b':
			// Soft hyphens, joiners and direction marks are invisible inside
			// a word; the zero width space is there to separate.
			dropped = true
		case c == gap:
			f.out = append(f.out, ' ')
		default:
			f.out = utf8.AppendRune(f.out, r)
		}
	}
	if dropped && !norm.NFC.IsNormal(f.out[start:]) {
		f.scratch = append(f.scratch[:0], f.out[start:]...)
		f.out = norm.NFC.Append(f.out[:start], f.scratch...)
	}
}

// accented reports whether people leave out the marks on r when they search.
func accented(r rune) bool {
	if 'Ѐ' <= r && r <= 'ԯ' { // Cyrillic, without a look into four tables
		return false
	}
	return unicode.In(r, unicode.Latin, unicode.Greek, unicode.Hebrew, unicode.Arabic)
}

// base appends the first letter of s in lower case without its accents.
func (f *folder) base(s string) {
	r, _ := utf8.DecodeRuneInString(s)
	expanded := norm.NFKD.PropertiesString(s).Decomposition()
	if expanded == nil {
		f.out = appendLetter(f.out, unicode.ToLower(r))
		return
	}
	for len(expanded) > 0 {
		r, size := utf8.DecodeRune(expanded)
		if !unicode.IsMark(r) {
			f.out = appendLetter(f.out, unicode.ToLower(r))
		}
		expanded = expanded[size:]
	}
}

// appendLetter appends a small letter, replacing those that Unicode does not
// decompose but people type differently.
func appendLetter(dst []byte, r rune) []byte {
	switch r {
	case 'ß':
		return append(dst, "ss"...)
	case 'æ':
		return append(dst, "ae"...)
	case 'œ':
		return append(dst, "oe"...)
	case 'ø':
		return append(dst, 'o')
	case 'ł':
		return append(dst, 'l')
	case 'đ', 'ð':
		return append(dst, 'd')
	case 'þ':
		return append(dst, "th"...)
	case 'ı':
		return append(dst, 'i')
	case 'ς':
		return append(dst, "σ"...)
	}
	return utf8.AppendRune(dst, r)
}
