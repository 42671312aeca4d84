package compress

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// clip shortens s to at most n bytes without cutting a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// clipWords shortens s to at most n bytes, between words where it has any.
func clipWords(s string, n int) string {
	short := clip(s, n)
	if len(short) < len(s) {
		if i := strings.LastIndexByte(short, ' '); i > n/2 {
			short = short[:i]
		}
	}
	return strings.TrimSpace(short)
}

// squeeze makes every run of white space one space.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// plain is how texts are compared word for word: without regard to case, white space and the kind of
// quotation marks.
func plain(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	gap := false
	for _, r := range s {
		if unicode.IsSpace(r) {
			gap = b.Len() > 0
			continue
		}
		if gap {
			b.WriteByte(' ')
			gap = false
		}
		switch {
		case 'A' <= r && r <= 'Z':
			b.WriteByte(byte(r) + 'a' - 'A')
		case r < utf8.RuneSelf:
			b.WriteByte(byte(r))
		case r == '‘' || r == '’':
			b.WriteByte('\'')
		case r == '“' || r == '”':
			b.WriteByte('"')
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// bare takes off a line what makes it the item of a list, a heading or a quotation.
func bare(line string) string {
	line = strings.TrimLeft(line, " \t#>*-+•–—_`\"“”'([<{|~\\/=:.,;!?")
	if i := strings.IndexFunc(line, func(r rune) bool { return r < '0' || r > '9' }); i > 0 && i < 4 && (line[i] == '.' || line[i] == ')') {
		line = strings.TrimLeft(line[i+1:], " \t*_`\"“'([")
	}
	return line
}

// eachSentence calls f with every sentence of a text, trimmed: what ends with a full stop, a question or
// an exclamation mark before white space, or with its line.
func eachSentence(text string, f func(sentence string)) {
	for line := range strings.SplitSeq(text, "\n") {
		start := 0
		for i, r := range line {
			if !ends(r) {
				continue
			}
			after := i + utf8.RuneLen(r)
			next, _ := utf8.DecodeRuneInString(line[after:])
			if after < len(line) && r < utf8.RuneSelf && !unicode.IsSpace(next) {
				continue
			}
			if s := strings.TrimSpace(line[start:after]); s != "" {
				f(s)
			}
			start = after
		}
		if s := strings.TrimSpace(line[start:]); s != "" {
			f(s)
		}
	}
}

func ends(r rune) bool {
	switch r {
	case '.', '!', '?', '。', '！', '？':
		return true
	}
	return false
}

// eachProse calls f with every line of a text that does not stand in fenced code.
func eachProse(text string, f func(line string)) {
	fence := ""
	for line := range strings.SplitSeq(text, "\n") {
		trimmed := strings.TrimLeft(line, " ")
		switch {
		case fence != "":
			if strings.HasPrefix(trimmed, fence) {
				fence = ""
			}
		case strings.HasPrefix(trimmed, "```"):
			fence = "```"
		case strings.HasPrefix(trimmed, "~~~"):
			fence = "~~~"
		default:
			f(line)
		}
	}
}

// haystack is a text in which many literals are looked for, most of which it does not hold.
type haystack struct {
	text string
	// runs has a bit for the hash of every three bytes that follow each other.
	runs [1 << 10]uint64
}

func newHaystack(text string) *haystack {
	h := &haystack{text: text}
	for i := 2; i < len(text); i++ {
		at := run(text, i)
		h.runs[at>>6] |= 1 << (at & 63)
	}
	return h
}

// run is the hash of the three bytes of a text that end at i.
func run(text string, i int) uint16 {
	return uint16((uint32(text[i-2])<<16 | uint32(text[i-1])<<8 | uint32(text[i])) * 0x9E3779B1 >> 16)
}

// holds reports whether the literal is [within] the text.
func (h *haystack) holds(literal string) bool {
	for i := 2; i < len(literal); i++ {
		if at := run(literal, i); h.runs[at>>6]>>(at&63)&1 == 0 {
			return false
		}
	}
	return within(h.text, literal)
}

// within reports whether text holds a literal that is not a part of a longer word.
func within(text, literal string) bool {
	if literal == "" {
		return false
	}
	for from := 0; ; {
		i := strings.Index(text[from:], literal)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(literal)
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		after, size := utf8.DecodeRuneInString(text[end:])
		if !joins(before) && !joins(after) && !(after == '.' && end+size < len(text) && joins(rune(text[end+size]))) {
			return true
		}
		from = start + 1
		for from < len(text) && !utf8.RuneStart(text[from]) {
			from++
		}
	}
}

// joins reports whether a character beside a literal makes it a part of something longer.
func joins(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '/')
}
