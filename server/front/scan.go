package front

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// The scanners find where values of JSON end without decoding them. They hold strings and brackets together and look at
// nothing else: what is used of a value is decoded, and that is when the rest is checked.

// span is a piece of bytes, from an offset up to another. The zero one is none.
type span struct{ from, to int }

// maxDepth bounds how deep a value may nest.
const maxDepth = 512

// malformed says where a body stops being JSON.
func malformed(at int, want string) error {
	return fmt.Errorf("invalid JSON at offset %d: expected %s", at, want)
}

func space(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\n' || data[i] == '\t' || data[i] == '\r') {
		i++
	}
	return i
}

// text returns the offset behind the string at i.
func text(data []byte, i int) (int, error) {
	if i >= len(data) || data[i] != '"' {
		return 0, malformed(i, "a string")
	}
	for end := i + 1; ; end++ {
		next := bytes.IndexByte(data[end:], '"')
		if next < 0 {
			return 0, malformed(len(data), "the end of a string")
		}
		end += next
		escapes := 0
		for data[end-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return end + 1, nil
		}
	}
}

// value returns the offset behind the value at i.
func value(data []byte, i int) (int, error) {
	if i >= len(data) {
		return 0, malformed(i, "a value")
	}
	switch data[i] {
	case '"':
		return text(data, i)
	case '{', '[':
		return nested(data, i)
	}
	end := i
	for end < len(data) && bytes.IndexByte([]byte(",]} \t\r\n"), data[end]) < 0 {
		end++
	}
	if end == i {
		return 0, malformed(i, "a value")
	}
	return end, nil
}

func nested(data []byte, i int) (int, error) {
	var open [maxDepth]byte
	depth := 0
	for i < len(data) {
		switch c := data[i]; c {
		case '"':
			end, err := text(data, i)
			if err != nil {
				return 0, err
			}
			i = end
			continue
		case '{', '[':
			if depth == maxDepth {
				return 0, malformed(i, "less nesting")
			}
			open[depth] = c + 2 // the closing one in ASCII
			depth++
		case '}', ']':
			if depth--; open[depth] != c {
				return 0, malformed(i, "the other bracket")
			}
			if depth == 0 {
				return i + 1, nil
			}
		}
		i++
	}
	return 0, malformed(i, "a closing bracket")
}

// items walks from behind an opening bracket to behind the closing one. Item gets the offset of an item and returns the one
// behind it.
func items(data []byte, i int, closing byte, item func(int) (int, error)) (int, error) {
	if i = space(data, i); i < len(data) && data[i] == closing {
		return i + 1, nil
	}
	for {
		end, err := item(i)
		if err != nil {
			return 0, err
		}
		if i = space(data, end); i < len(data) && data[i] == closing {
			return i + 1, nil
		}
		if i >= len(data) || data[i] != ',' {
			return 0, malformed(i, "a comma or a closing bracket")
		}
		i = space(data, i+1)
	}
}

// members walks the one object that data is. Member gets the name and the offset of a value, and returns the offset behind it.
func members(data []byte, member func(name string, at int) (int, error)) error {
	i := space(data, 0)
	if i >= len(data) || data[i] != '{' {
		return malformed(i, "an object")
	}
	end, err := items(data, i+1, '}', func(i int) (int, error) {
		end, err := text(data, i)
		if err != nil {
			return 0, err
		}
		var name string
		if err := json.Unmarshal(data[i:end], &name); err != nil {
			return 0, fmt.Errorf("invalid JSON at offset %d: %w", i, err)
		}
		if i = space(data, end); i >= len(data) || data[i] != ':' {
			return 0, malformed(i, "a colon")
		}
		return member(name, space(data, i+1))
	})
	if err != nil {
		return err
	}
	if end = space(data, end); end != len(data) {
		return malformed(end, "nothing more")
	}
	return nil
}
