package strictjson

import (
	"fmt"
	"math/bits"
	"strings"
	"unicode/utf8"
)

// The scanners below take data and the offset where their value starts and
// return the offset after it. They never allocate unless there is an error.

// space skips whitespace.
func space(data string, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\n' || data[i] == '\t' || data[i] == '\r') {
		i++
	}
	return i
}

// skip checks the value at offset i, which stands inside depth others.
func skip(data string, i, depth, limit int) (int, error) {
	if i == len(data) {
		return 0, expected(data, i, "a value")
	}
	switch c := data[i]; {
	case c == '"':
		end, _, err := quoted(data, i)
		return end, err
	case c == '-' || '0' <= c && c <= '9':
		return number(data, i)
	case c == 't':
		return word(data, i, "true")
	case c == 'f':
		return word(data, i, "false")
	case c == 'n':
		return word(data, i, "null")
	case c != '{' && c != '[':
		return 0, expected(data, i, "a value")
	}
	if depth == limit {
		return 0, fmt.Errorf("offset %d: nested more than %d deep", i, limit)
	}
	if data[i] == '[' {
		return list(data, i+1, ']', func(i int) (int, error) {
			return skip(data, i, depth+1, limit)
		})
	}
	return list(data, i+1, '}', func(i int) (int, error) {
		i, _, err := quoted(data, i)
		if err != nil {
			return 0, err
		}
		if i, err = colon(data, i); err != nil {
			return 0, err
		}
		return skip(data, i, depth+1, limit)
	})
}

// list scans from behind an opening bracket through the closing one; item scans
// one element or member.
func list(data string, i int, closing byte, item func(int) (int, error)) (int, error) {
	i = space(data, i)
	if i < len(data) && data[i] == closing {
		return i + 1, nil
	}
	for {
		var err error
		if i, err = item(i); err != nil {
			return 0, err
		}
		i = space(data, i)
		if i == len(data) || data[i] != ',' && data[i] != closing {
			return 0, expected(data, i, "',' or '"+string(rune(closing))+"'")
		}
		if data[i] == closing {
			return i + 1, nil
		}
		i = space(data, i+1)
	}
}

// colon skips the colon after a member name and the whitespace around it.
func colon(data string, i int) (int, error) {
	i = space(data, i)
	if i == len(data) || data[i] != ':' {
		return 0, expected(data, i, "':' after a member name")
	}
	return space(data, i+1), nil
}

func word(data string, i int, want string) (int, error) {
	if !strings.HasPrefix(data[i:], want) {
		return 0, expected(data, i, want)
	}
	return i + len(want), nil
}

func number(data string, i int) (int, error) {
	var err error
	if data[i] == '-' {
		i++
	}
	if i < len(data) && data[i] == '0' {
		i++
	} else if i, err = digits(data, i); err != nil {
		return 0, err
	}
	if i < len(data) && data[i] == '.' {
		if i, err = digits(data, i+1); err != nil {
			return 0, err
		}
	}
	if i < len(data) && (data[i] == 'e' || data[i] == 'E') {
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		if i, err = digits(data, i); err != nil {
			return 0, err
		}
	}
	return i, nil
}

func digits(data string, i int) (int, error) {
	start := i
	for i < len(data) && '0' <= data[i] && data[i] <= '9' {
		i++
	}
	if i == start {
		return 0, expected(data, i, "a digit")
	}
	return i, nil
}

// quoted checks the string at offset i and reports whether it has escapes.
func quoted(data string, i int) (end int, escaped bool, err error) {
	if i == len(data) || data[i] != '"' {
		return 0, false, expected(data, i, "a string")
	}
	start, ascii := i, true
	for i++; ; {
		var skipped bool
		i, skipped = plain(data, i)
		ascii = ascii && skipped
		if i == len(data) {
			return 0, false, expected(data, i, "the end of the string")
		}
		switch data[i] {
		case '"':
			if !ascii && !utf8.ValidString(data[start:i]) {
				return 0, false, notUTF8(data, start)
			}
			return i + 1, escaped, nil
		case '\\':
			escaped = true
			if i, err = escape(data, i); err != nil {
				return 0, false, err
			}
		default:
			return 0, false, expected(data, i, "control characters to be escaped")
		}
	}
}

// plain skips the bytes that mean themselves, up to a quote, a backslash or a
// control character, and reports whether all it skipped were ASCII. It looks at
// sixteen bytes at once, and near the end of what it skips, or of all, at eight.
func plain(data string, i int) (end int, ascii bool) {
	var seen uint64
	for ; i+16 <= len(data); i += 16 {
		v, w := eight(data[i:i+8]), eight(data[i+8:i+16])
		if special(v)|special(w) != 0 {
			break
		}
		seen |= v | w
	}
	for ; i+8 <= len(data); i += 8 {
		w := eight(data[i : i+8])
		if marks := special(w); marks != 0 {
			skipped := bits.TrailingZeros64(marks) / 8
			seen |= w & (1<<(8*skipped) - 1)
			return i + skipped, seen&high == 0
		}
		seen |= w
	}
	if left := len(data) - i; left > 0 && len(data) >= 8 {
		// The last bytes, and behind them zeros, which are control characters.
		w := eight(data[len(data)-8:]) >> (64 - 8*left)
		skipped := bits.TrailingZeros64(special(w)) / 8
		seen |= w & (1<<(8*skipped) - 1)
		return i + skipped, seen&high == 0
	}
	for i < len(data) && data[i] >= ' ' && data[i] != '"' && data[i] != '\\' {
		seen |= uint64(data[i])
		i++
	}
	return i, seen&high == 0
}

// ones and high have the lowest and the highest bit of eight bytes set.
const ones, high = 0x0101010101010101, 0x8080808080808080

// eight returns eight bytes as one word, the first in its lowest byte.
func eight(b string) uint64 {
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// special marks, with its high bit, the lowest byte of a word that is a quote, a
// backslash or a control character, and perhaps others above it.
//
// Xored with 2 a quote stands right behind the control characters, which stay
// among themselves, and the space behind it: subtracting 0x21 borrows into a
// byte's high bit if it was one of them. Subtracting 1 does so if it was zero,
// that is, equal to the mask it was xored with; &^ forgives bytes that had the
// bit before, which neither xor changes. Only a byte that is marked borrows from
// the one above it, which may be marked for that alone.
func special(w uint64) uint64 {
	low, slash := w^2*ones, w^'\\'*ones
	return ((low - ('"'^2+1)*ones) | (slash - ones)) &^ w & high
}

// notUTF8 is the error for a string that starts at offset i and is not UTF-8.
func notUTF8(data string, i int) error {
	for {
		r, size := utf8.DecodeRuneInString(data[i:])
		if r == utf8.RuneError && size == 1 {
			return fmt.Errorf("offset %d: byte %#02x is not UTF-8", i, data[i])
		}
		i += size
	}
}

// escape checks the form of the escape at offset i, not what it means.
func escape(data string, i int) (int, error) {
	if i+1 == len(data) {
		return 0, expected(data, i+1, "an escape")
	}
	switch data[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2, nil
	case 'u':
		for j := i + 2; j < i+6; j++ {
			if j == len(data) || !hex(data[j]) {
				return 0, expected(data, j, "a hexadecimal digit")
			}
		}
		return i + 6, nil
	}
	return 0, expected(data, i+1, `one of "\/bfnrtu after \`)
}

func hex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// expected is the error for data that goes on differently than JSON may.
func expected(data string, i int, what string) error {
	if i >= len(data) {
		return fmt.Errorf("offset %d: expected %s, found the end", i, what)
	}
	r, size := utf8.DecodeRuneInString(data[i:])
	if r == utf8.RuneError && size == 1 {
		return fmt.Errorf("offset %d: expected %s, found byte %#02x", i, what, data[i])
	}
	return fmt.Errorf("offset %d: expected %s, found %q", i, what, r)
}
