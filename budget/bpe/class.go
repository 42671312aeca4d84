package bpe

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// class is what the splitters need to know of a character, one bit each.
type class uint8

const (
	letter  class = 1 << iota // \p{L}
	number                    // \p{N}
	upper                     // \p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}
	lower                     // \p{Ll}\p{Lm}\p{Lo}\p{M}
	space                     // \s
	newline                   // \r\n
)

// classes holds the class of every character of the basic multilingual plane.
type classes [1 << 16]class

// ranges are the Unicode tables behind the classes, of the version that Go has.
var ranges = []struct {
	table *unicode.RangeTable
	class class
}{
	{unicode.Lu, letter | upper},
	{unicode.Lt, letter | upper},
	{unicode.Lm, letter | upper | lower},
	{unicode.Lo, letter | upper | lower},
	{unicode.Ll, letter | lower},
	{unicode.M, upper | lower},
	{unicode.N, number},
	{unicode.White_Space, space},
}

// characters are built when the first encoding is.
var characters = sync.OnceValue(func() *classes {
	c := new(classes)
	for _, r := range ranges {
		for _, span := range r.table.R16 {
			for x := uint32(span.Lo); x <= uint32(span.Hi); x += uint32(span.Stride) {
				c[x] |= r.class
			}
		}
	}
	c['\r'] |= newline
	c['\n'] |= newline
	return c
})

// at returns the class and the length of the character at i, which must be valid UTF-8.
func (c *classes) at(s string, i int) (class, int) {
	if b := s[i]; b < utf8.RuneSelf {
		return c[b], 1
	}
	r, size := utf8.DecodeRuneInString(s[i:])
	if int(r) < len(c) {
		return c[r], size
	}
	return rare(r), size
}

// rare is the class of a character beyond the basic multilingual plane.
func rare(r rune) class {
	var c class
	for _, r32 := range ranges {
		if unicode.Is(r32.table, r) {
			c |= r32.class
		}
	}
	return c
}

// run returns the end of the characters from i on that are in any of the classes.
func (c *classes) run(s string, i int, any class) int {
	for i < len(s) {
		class, size := c.at(s, i)
		if class&any == 0 {
			break
		}
		i += size
	}
	return i
}

// runNot returns the end of the characters from i on that are in none of the classes.
func (c *classes) runNot(s string, i int, any class) int {
	for i < len(s) {
		class, size := c.at(s, i)
		if class&any != 0 {
			break
		}
		i += size
	}
	return i
}
