package turngen

import (
	"strings"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func microseconds(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

// odd is text that is legal and easily broken: by escaping, normalising, trimming, splitting lines
// or counting characters.
var odd = []string{
	" ", "  leading and trailing  ", "\n", "a\r\nb", "tab\there", `back\slash`, `"quoted"`, "'", "%_%", "</script>",
	"e\u0301", "\u00e9", "\u2028", "\u2029", "\ufeff", "\u200d", "\u0085", "👩‍👩‍👧‍👦", "🏳️‍🌈", "\U0010ffff", "\ufffd", "\u0001\u001f\u007f",
	"東京タワー", "한국어", "ไทย", "שלום", "ﬁ", "ß", "İi", "null", "{}", "--", "\\u0000", "\\x00", "𝔘𝔫𝔦",
}

// Text makes text that every store must keep byte for byte: valid, not empty and without NUL.
func Text() *rapid.Generator[string] {
	word := rapid.SampledFrom([]string{"the", "test", "runs", "running", "café", "cafe", "Paris", "weather", "42", "東京", "go"})
	free := rapid.StringN(1, 30, -1).Filter(legal)
	return rapid.OneOf(
		rapid.Map(rapid.SliceOfN(word, 1, 8), func(words []string) string { return strings.Join(words, " ") }),
		rapid.Map(rapid.SliceOfN(rapid.SampledFrom(odd), 1, 4), func(parts []string) string { return strings.Join(parts, "") }),
		free,
	)
}

func legal(s string) bool { return utf8.ValidString(s) && !strings.Contains(s, "\x00") }

// name makes a short name: of a tool, a call, a message.
func name() *rapid.Generator[string] {
	return rapid.OneOf(rapid.StringMatching(`[a-z][a-z0-9_]{0,11}`), rapid.SampledFrom(odd))
}

// JSON makes one JSON value as text, with white space, escapes and numbers written in every legal
// way, and nothing around it.
func JSON() *rapid.Generator[string] { return value(3) }

func value(depth int) *rapid.Generator[string] {
	leaf := rapid.OneOf(
		rapid.SampledFrom([]string{"null", "true", "false", "0", "-0", "-0.0", "1e400", "1E+2", "123456789012345678901234567890", "0.10", "5e-324"}),
		rapid.Map(Text(), quote),
		rapid.SampledFrom([]string{`""`, `"\/\b\f\n\r\t\"\\"`, `"\u00e9\u0041"`, `"\ud83d\ude00"`, `"\u0000"`, `"\ud800"`}),
	)
	if depth == 0 {
		return leaf
	}
	return rapid.Custom(func(t *rapid.T) string {
		kind := rapid.IntRange(0, 3).Draw(t, "kind")
		if kind < 2 {
			return leaf.Draw(t, "leaf")
		}
		space := rapid.SampledFrom([]string{"", " ", "\n", "\r\n\t", "  \n  "})
		var b strings.Builder
		n := rapid.IntRange(0, 3).Draw(t, "members")
		for i := range n {
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString(space.Draw(t, "before"))
			if kind == 3 {
				b.WriteString(quote(Text().Draw(t, "name")) + space.Draw(t, "colon") + ":" + space.Draw(t, "after"))
			}
			b.WriteString(value(depth-1).Draw(t, "member"))
		}
		b.WriteString(space.Draw(t, "end"))
		if kind == 3 {
			return "{" + b.String() + "}"
		}
		return "[" + b.String() + "]"
	})
}

// quote writes a JSON string with the escapes that JSON demands and no others.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20:
			b.WriteString(`\u00`)
			b.WriteByte("0123456789abcdef"[r>>4])
			b.WriteByte("0123456789abcdef"[r&15])
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
