// Package diff is what changed between two texts, line by line.
package diff

import (
	"slices"
	"strings"
)

// Op says what became of a line.
type Op rune

// What becomes of lines.
const (
	Same    Op = ' '
	Removed Op = '-'
	Added   Op = '+'
	Skipped Op = '@' // stands for lines that are the same and not shown
)

// Line is a line of either text, without its end.
type Line struct {
	Op    Op
	Text  string
	Lines int // how many were skipped
}

// maxCells bounds the table of the comparison. Texts that need more are taken to differ from the first line that is not
// the same to the last.
const maxCells = 1 << 22

// Lines compares two texts. What was removed stands before what was added in its place.
func Lines(from, to string) []Line {
	a, b := split(from), split(to)
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	tail := 0
	for tail < len(a)-same && tail < len(b)-same && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	lines := mark(nil, Same, a[:same])
	lines = compare(lines, a[same:len(a)-tail], b[same:len(b)-tail])
	return mark(lines, Same, a[len(a)-tail:])
}

func split(text string) []string {
	if text = strings.TrimRight(text, "\n"); text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

func mark(lines []Line, op Op, texts []string) []Line {
	for _, text := range texts {
		lines = append(lines, Line{Op: op, Text: text})
	}
	return lines
}

// compare appends the comparison along a longest common subsequence.
func compare(lines []Line, a, b []string) []Line {
	if len(a) == 0 || len(b) == 0 || len(a) > maxCells/len(b) {
		return mark(mark(lines, Removed, a), Added, b)
	}
	// common[i][j] is how many lines a[i:] and b[j:] have in common.
	common := make([][]int32, len(a)+1)
	for i := range common {
		common[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			lines = append(lines, Line{Op: Same, Text: a[i]})
			i, j = i+1, j+1
		case common[i+1][j] >= common[i][j+1]:
			lines = append(lines, Line{Op: Removed, Text: a[i]})
			i++
		default:
			lines = append(lines, Line{Op: Added, Text: b[j]})
			j++
		}
	}
	return mark(mark(lines, Removed, a[i:]), Added, b[j:])
}

// Differ reports whether anything was removed or added.
func Differ(lines []Line) bool {
	return slices.ContainsFunc(lines, func(l Line) bool { return l.Op != Same })
}

// Shorten puts one line in the place of lines that are the same and further than context lines from any that is not.
func Shorten(lines []Line, context int) []Line {
	near := make([]bool, len(lines))
	for i, l := range lines {
		if l.Op == Same {
			continue
		}
		for k := max(i-context, 0); k < min(i+context+1, len(lines)); k++ {
			near[k] = true
		}
	}
	var short []Line
	for i, l := range lines {
		switch last := len(short) - 1; {
		case near[i]:
			short = append(short, l)
		case last >= 0 && short[last].Op == Skipped:
			short[last].Lines++
		default:
			short = append(short, Line{Op: Skipped, Lines: 1})
		}
	}
	return short
}
