package bpe

// The splitters return the length of the first piece of a text. Each stands for the expression
// above it, whose alternatives are tried in order; where one is left out of the code, an earlier
// one has taken its case.

// wordOrSpace are the classes that are not "other" in the expressions: [^\s\p{L}\p{N}] is what has
// none of them.
const wordOrSpace = space | letter | number

// cl100k splits by
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// with as many digits as are asked for instead of 3. Newer releases of OpenAI's own library have
// \s++$ before \s*[\r\n]+, and so keep the spaces at the very end of a text in one piece even if
// there are newlines among them; what the models are fed is not published.
func (c *classes) cl100k(s string, digits int) int {
	if n := contraction(s); n > 0 {
		return n
	}
	first, size := c.at(s, 0)
	switch {
	case first&letter != 0:
		return c.run(s, size, letter)
	case first&number != 0:
		return c.digits(s, size, digits)
	}
	if first&newline == 0 && size < len(s) {
		if second, more := c.at(s, size); second&letter != 0 {
			return c.run(s, size+more, letter)
		}
	}
	if end := c.other(s); end > 0 {
		for end < len(s) && (s[end] == '\r' || s[end] == '\n') {
			end++
		}
		return end
	}
	return c.blank(s)
}

// o200k splits by
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// with as many digits as are asked for instead of 3, and the contractions only where they are.
func (c *classes) o200k(s string, digits int, contractions bool) int {
	first, size := c.at(s, 0)
	if first&number != 0 {
		return c.digits(s, size, digits)
	}
	if end := c.cased(s, first, size); end > 0 {
		if contractions {
			end += contraction(s[end:])
		}
		return end
	}
	if end := c.other(s); end > 0 {
		for end < len(s) && (s[end] == '\r' || s[end] == '\n' || s[end] == '/') {
			end++
		}
		return end
	}
	return c.blank(s)
}

// cased is the first two alternatives of o200k without their contractions, 0 if none matches.
func (c *classes) cased(s string, first class, size int) int {
	if first&letter != 0 {
		end, _ := c.hump(s, 0)
		return end
	}
	if first&newline != 0 {
		return 0
	}
	end, lowered := c.hump(s, size)
	if !lowered && first&lower != 0 {
		// The first alternative matches a mark alone where it cannot match it as what stands
		// before a word, and comes before the second.
		return size
	}
	return end
}

// hump matches upper* lower+ from i on, and otherwise upper+, which is what is then left of
// upper+ lower*; lowered says which. The end is 0 if neither matches.
func (c *classes) hump(s string, i int) (end int, lowered bool) {
	start, both := i, 0
	for i < len(s) {
		class, size := c.at(s, i)
		if class&upper == 0 {
			break
		}
		i += size
		if class&lower != 0 {
			both = i
		}
	}
	if end := c.run(s, i, lower); end > i {
		return end, true
	}
	// upper* gives back until lower+ has its one character.
	if both > 0 {
		return both, true
	}
	if i > start {
		return i, false
	}
	return 0, false
}

// gpt2 splits by
//
//	's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
func (c *classes) gpt2(s string) int {
	if n := contraction(s); n > 0 && lowerASCII(s[:n]) {
		return n
	}
	first, size := c.at(s, 0)
	if s[0] == ' ' && len(s) > 1 {
		second, more := c.at(s, 1)
		if second&space == 0 {
			first, size = second, 1+more
		}
	}
	switch {
	case first&letter != 0:
		return c.run(s, size, letter)
	case first&number != 0:
		return c.run(s, size, number)
	case first&space == 0:
		return c.runNot(s, size, wordOrSpace)
	}
	end, last, _ := c.spaces(s)
	if end < len(s) && last > 0 {
		return last
	}
	return end
}

// digitsFirst splits single digits off, and then what is between them by gpt2.
func (c *classes) digitsFirst(s string) int {
	end := c.runNot(s, 0, number)
	if end == 0 {
		_, size := c.at(s, 0)
		return size
	}
	return c.gpt2(s[:end])
}

// digits returns the end of at most n digits, the first of which ends at i.
func (c *classes) digits(s string, i, n int) int {
	for n--; n > 0 && i < len(s); n-- {
		class, size := c.at(s, i)
		if class&number == 0 {
			break
		}
		i += size
	}
	return i
}

// other matches " ?[^\s\p{L}\p{N}]+", 0 if it does not.
func (c *classes) other(s string) int {
	i := 0
	if s[0] == ' ' {
		i = 1
	}
	if end := c.runNot(s, i, wordOrSpace); end > i {
		return end
	}
	return 0
}

// blank matches "\s*[\r\n]+|\s+(?!\S)|\s+" where there is a space.
func (c *classes) blank(s string) int {
	end, last, line := c.spaces(s)
	switch {
	case line > 0:
		return line
	case end < len(s) && last > 0:
		return last
	}
	return end
}

// spaces returns where the spaces that s begins with end, where the last of them begins and
// where the last newline among them ends.
func (c *classes) spaces(s string) (end, last, line int) {
	for end < len(s) {
		class, size := c.at(s, end)
		if class&space == 0 {
			break
		}
		last = end
		end += size
		if class&newline != 0 {
			line = end
		}
	}
	return end, last, line
}

// contraction matches "(?i:'s|'t|'re|'ve|'m|'ll|'d)" and returns its length, 0 if it does not.
// Without regard to case, s is also the long s of old print.
func contraction(s string) int {
	if len(s) < 2 || s[0] != '\'' {
		return 0
	}
	switch s[1] {
	case 's', 'S', 't', 'T', 'm', 'M', 'd', 'D':
		return 2
	}
	if len(s) < 3 {
		return 0
	}
	switch a, b := s[1]|0x20, s[2]|0x20; {
	case s[1:3] == "ſ", (a == 'r' || a == 'v') && b == 'e', a == 'l' && b == 'l':
		return 3
	}
	return 0
}

func lowerASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 'A' && s[i] <= 'Z' || s[i] >= 0x80 {
			return false
		}
	}
	return true
}
