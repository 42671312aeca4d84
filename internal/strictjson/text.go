package strictjson

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape decodes the inside of a string that quoted has accepted. base is its
// offset, for errors.
func unescape(body string, base int) (string, error) {
	var out strings.Builder
	out.Grow(len(body))
	for i := 0; i < len(body); {
		slash := strings.IndexByte(body[i:], '\\')
		if slash < 0 {
			out.WriteString(body[i:])
			break
		}
		out.WriteString(body[i : i+slash])
		i += slash
		if body[i+1] != 'u' {
			out.WriteByte(escapes[body[i+1]])
			i += 2
			continue
		}
		r, size := unit(body[i:]), 6
		if utf16.IsSurrogate(r) {
			if r = utf16.DecodeRune(r, unit(body[i+6:])); r == utf8.RuneError {
				return "", fmt.Errorf("offset %d: %s is half of a surrogate pair", base+i, body[i:i+6])
			}
			size = 12
		}
		out.WriteRune(r)
		i += size
	}
	return out.String(), nil
}

var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unit decodes the \uXXXX that s starts with; without one it returns 0, which
// is no half of any pair.
func unit(s string) rune {
	if len(s) < 6 || s[:2] != `\u` {
		return 0
	}
	var r rune
	for _, c := range []byte(s[2:6]) {
		if c <= '9' {
			r = r<<4 | rune(c-'0')
		} else {
			r = r<<4 | rune(c|' '-'a'+10)
		}
	}
	return r
}

// Plain returns where in s, from i on, the first character stands that
// [AppendString] escapes, and len(s) where there is none.
func Plain(s string, i int) int {
	end, _ := plain(s, i)
	return end
}

// Escapes returns by how many bytes [AppendString] makes s longer, besides the quotes around it, and whether s is ASCII.
func Escapes(s string) (more int, ascii bool) {
	i, ascii := plain(s, 0)
	for i < len(s) {
		switch s[i] {
		case '"', '\\', '\b', '\f', '\n', '\r', '\t':
			more++
		default:
			more += len(`u0000`)
		}
		var skipped bool
		i, skipped = plain(s, i+1)
		ascii = ascii && skipped
	}
	return more, ascii
}

// AppendString appends s as a JSON string and returns the extended slice. Only
// what JSON demands is escaped: the quote, the backslash and the control
// characters. s must be valid UTF-8.
func AppendString(dst []byte, s string) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(s); i++ {
		start := i
		i, _ = plain(s, i)
		dst = append(dst, s[start:i]...)
		if i == len(s) {
			break
		}
		switch c := s[i]; c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&0xf])
		}
	}
	return append(dst, '"')
}
