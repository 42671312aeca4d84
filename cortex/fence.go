package cortex

import "strings"

// fence is the code fence that a line stands in: its character and how many of them opened it.
type fence struct {
	char byte
	size int
}

// pass goes over one line and reports whether it is code: a fence or something inside one. The rules
// are CommonMark's: a fence is three or more backticks or tildes, indented by at most three spaces;
// it ends with at least as many of the same, alone on their line, or with the text.
func (f *fence) pass(line string) bool {
	if f.size > 0 {
		rest, ok := unindented(line)
		if size := run(rest, f.char); ok && size >= f.size && strings.Trim(rest[size:], " \t\r") == "" {
			*f = fence{}
		}
		return true
	}
	rest, ok := item(line)
	if !ok || rest == "" || rest[0] != '`' && rest[0] != '~' {
		return false
	}
	size := run(rest, rest[0])
	if size < 3 || rest[0] == '`' && strings.IndexByte(rest[size:], '`') >= 0 {
		return false
	}
	*f = fence{char: rest[0], size: size}
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

// item takes the indentation off a line, and the bullet off the item of a list.
func item(line string) (rest string, ok bool) {
	rest, ok = unindented(line)
	if ok && len(rest) > 1 && strings.IndexByte("-*+", rest[0]) >= 0 && rest[1] == ' ' {
		return unindented(rest[2:])
	}
	return rest, ok
}
