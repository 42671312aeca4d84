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

// printable is a text without what no store can keep: bytes that are no UTF-8, and NUL.
func printable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// oneLine is a printable text without control characters, line breaks among them.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(printable(s), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// squeeze makes every run of white space one space.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// plain is how texts are compared word for word: without regard to case, white space and the kind of
// quotation marks.
func plain(s string) string {
	var short [256]byte // most sentences fit
	b := short[:0]
	if len(s) > len(short) {
		b = make([]byte, 0, len(s))
	}
	gap := false
	for i := 0; i < len(s); {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		i += size
		// Most are between these, and none of those is white space.
		if (r <= ' ' || r > '~') && unicode.IsSpace(r) {
			gap = len(b) > 0
			continue
		}
		if gap {
			b = append(b, ' ')
			gap = false
		}
		switch {
		case 'A' <= r && r <= 'Z':
			b = append(b, byte(r)+'a'-'A')
		case r < utf8.RuneSelf:
			b = append(b, byte(r))
		case r == '‘' || r == '’':
			b = append(b, '\'')
		case r == '“' || r == '”':
			b = append(b, '"')
		default:
			b = utf8.AppendRune(b, unicode.ToLower(r))
		}
	}
	return string(b)
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
