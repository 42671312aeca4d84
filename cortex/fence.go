package cortex

import "strings"

// fence is the code fence that a line stands in: its character, how many of them opened it, and how far the
// item of a list is indented that it is part of.
type fence struct {
	char   byte
	size   int
	inside int
}

// pass goes over one line and reports whether it is code: a fence or something inside one. The rules
// are CommonMark's: a fence is three or more backticks or tildes, indented by at most three spaces;
// it ends with at least as many of the same, alone on their line, or with the text.
func (f *fence) pass(line string) bool {
	if f.size > 0 {
		rest, ok := unindented(line[min(run(line, ' '), f.inside):])
		if size := run(rest, f.char); ok && size >= f.size && strings.Trim(rest[size:], " \t\r") == "" {
			*f = fence{}
		}
		return true
	}
	rest, inside, ok := item(line)
	if !ok || rest == "" || rest[0] != '`' && rest[0] != '~' {
		return false
	}
	size := run(rest, rest[0])
	if size < 3 || rest[0] == '`' && strings.IndexByte(rest[size:], '`') >= 0 {
		return false
	}
	*f = fence{char: rest[0], size: size, inside: inside}
	return true
}

// run is how often c stands at the front of s.
func run(s string, c byte) int {
	n := 0
	for n < len(s) && s[n] == c {
		n++
	}
	return n
}

// unindented takes up to three spaces off a line; ok is false where it is indented further, or by a tab.
func unindented(line string) (rest string, ok bool) {
	n := run(line, ' ')
	return line[n:], n <= 3 && !strings.HasPrefix(line[n:], "\t")
}

// item takes the indentation off a line, and the bullet or the number off the item of a list. Inside is how
// far the lines are indented that belong to that item, 0 where it is none.
func item(line string) (rest string, inside int, ok bool) {
	rest, ok = unindented(line)
	if n := bullet(rest); ok && n > 0 {
		rest, ok = unindented(rest[n:])
		inside = len(line) - len(rest)
	}
	return rest, inside, ok
}

// bullet is how long the bullet or the number is that a line begins with, with the space behind it.
func bullet(line string) int {
	n := 0
	for n < len(line) && n < 9 && '0' <= line[n] && line[n] <= '9' {
		n++
	}
	ends := ".)"
	if n == 0 {
		ends = "-*+"
	}
	if len(line) < n+2 || strings.IndexByte(ends, line[n]) < 0 || line[n+1] != ' ' {
		return 0
	}
	return n + 2
}
