// Package toolargs is the arguments of tool calls, and the schemas of them, in a form that every provider's
// parser can read.
package toolargs

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

const (
	// maxDepth stays below the 128 levels that common parsers read, with room for the body around it.
	maxDepth = 100
	// safeDigits is how long a number without an exponent may be and surely fit into 64 bits.
	safeDigits = 300

	space     = " \t\r\n"
	wrapStart = `{"arguments":`
)

// Append appends the arguments of a call as an object. Other JSON is wrapped in one, {"arguments": …}, and so, as
// a string, is what is not [Parsable]. No arguments are {}.
func Append(dst []byte, raw string) []byte {
	raw = strings.Trim(raw, space)
	switch {
	case raw == "":
		return append(dst, "{}"...)
	case !Parsable(raw):
		dst = strictjson.AppendString(append(dst, wrapStart...), strings.ToValidUTF8(raw, "\ufffd"))
	case raw[0] == '{':
		return append(dst, raw...)
	default:
		dst = append(append(dst, wrapStart...), raw...)
	}
	return append(dst, '}')
}

// Parsable says whether every provider can read a JSON value that stands in a request's body as it is. A body that
// it cannot read is refused as a whole, and with it the conversation.
func Parsable(raw string) bool {
	if strictjson.Check(raw) != nil {
		return false
	}
	depth := 0
	for i := 0; i < len(raw); {
		size := 1
		switch c := raw[i]; {
		case c == '"':
			if size = stringSize(raw[i:]); size == 0 {
				return false
			}
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return false
			}
		case c == '}' || c == ']':
			depth--
		case c == '-' || '0' <= c && c <= '9':
			if size = numberSize(raw[i:]); size == 0 {
				return false
			}
		}
		i += size
	}
	return true
}

// stringSize is how long the valid JSON string is that s starts with, 0 if it has half a surrogate pair.
func stringSize(s string) int {
	for i := 1; ; i++ {
		if s[i] == '"' {
			return i + 1
		}
		if s[i] != '\\' {
			continue
		}
		if i++; s[i] != 'u' {
			continue
		}
		if r := unit(s[i:]); utf16.IsSurrogate(r) {
			if s[i+5] != '\\' || utf16.DecodeRune(r, unit(s[i+6:])) == utf8.RuneError {
				return 0
			}
			i += 6
		}
		i += 4
	}
}

// unit reads the uXXXX that s starts with; 0 where there is none.
func unit(s string) rune {
	if s[0] != 'u' {
		return 0
	}
	var r rune
	for _, c := range []byte(s[1:5]) {
		if c <= '9' {
			r = r<<4 | rune(c-'0')
		} else {
			r = r<<4 | rune(c|' '-'a'+10)
		}
	}
	return r
}

// numberSize is how long the valid JSON number is that s starts with, 0 if it is too large for 64 bits.
func numberSize(s string) int {
	end := strings.IndexFunc(s, func(r rune) bool { return !strings.ContainsRune("+-.eE0123456789", r) })
	if end < 0 {
		end = len(s)
	}
	if end > safeDigits || strings.ContainsAny(s[:end], "eE") {
		if _, err := strconv.ParseFloat(s[:end], 64); err != nil {
			return 0
		}
	}
	return end
}

// Text is the arguments of a call, or a piece of them, as a server sent them: a string that holds JSON, as OpenAI has it, or
// the JSON itself, as Ollama has it. Null is nothing.
func Text(raw []byte) string {
	var text *string
	switch {
	case len(raw) == 0:
		return ""
	case json.Unmarshal(raw, &text) != nil:
		return string(raw)
	case text == nil:
		return ""
	}
	return *text
}
