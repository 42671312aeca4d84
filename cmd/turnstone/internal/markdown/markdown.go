// Package markdown shows what a model writes on a terminal: headings, lists, quotes, code and emphasis, wrapped to
// its width.
package markdown

import (
	"regexp"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
)

// minWidth is what lines are wrapped to at least: what a narrower terminal shows cannot be read anyway.
const minWidth = 20

var (
	fence   = regexp.MustCompile("^ {0,3}(```+|~~~+)\\s*([\\w+#.-]*)\\s*$")
	heading = regexp.MustCompile(`^ {0,3}#{1,6} +(.*?)[ #]*$`)
	rule    = regexp.MustCompile(`^ {0,3}(-{3,}|\*{3,}|_{3,})\s*$`)
	item    = regexp.MustCompile(`^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$`)
	quote   = regexp.MustCompile(`^ {0,3}> ?(.*)$`)
	inline  = regexp.MustCompile("`([^`\n]+)`" + `|\*\*([^*\n]+)\*\*|\*([^*\s][^*\n]*)\*|\[([^\]\n]+)\]\(([^)\s]+)\)`)
)

// Lines renders a text in lines of at most width columns. The text may be the beginning of one that is still being
// written: a fence that is not closed yet reaches to its end. It is cleaned: nothing in it moves the cursor. A style
// without colours leaves the marks of emphasis where they are.
func Lines(text string, width int, style terminal.Style) []string {
	return render(text, width, style).lines
}

// Open is the line with which the code begins that a text ends in, or nothing: before what follows the text it has that
// shown as code too.
func Open(text string) string {
	if open := render(text, 0, terminal.Style{}).open; open != "" {
		return open + "\n"
	}
	return ""
}

func render(text string, width int, style terminal.Style) *renderer {
	r := &renderer{width: max(width, minWidth), style: style}
	for line := range strings.SplitSeq(strings.TrimRight(terminal.Clean(text), "\n"), "\n") {
		r.line(strings.ReplaceAll(line, "\t", "    "))
	}
	return r
}

type renderer struct {
	width int
	style terminal.Style
	lines []string
	open  string // the fence of the code that we are in
}

func (r *renderer) line(line string) {
	if m := fence.FindStringSubmatch(line); m != nil && (r.open == "" || m[2] == "" && strings.HasPrefix(m[1], r.open)) {
		if r.open != "" {
			r.open = ""
			return
		}
		r.open = m[1]
		return
	}
	if r.open != "" {
		r.code(line)
		return
	}
	switch {
	case strings.TrimSpace(line) == "":
		r.lines = append(r.lines, "")
	case rule.MatchString(line):
		r.lines = append(r.lines, r.style.Dim(strings.Repeat("-", r.width)))
	case heading.MatchString(line):
		r.wrap("", "", r.style.Strong(heading.FindStringSubmatch(line)[1]))
	case quote.MatchString(line):
		r.wrap("| ", "| ", r.style.Dim(quote.FindStringSubmatch(line)[1]))
	case item.MatchString(line):
		m := item.FindStringSubmatch(line)
		begin := m[1][:min(len(m[1]), r.width/4)] + m[2] + " "
		r.wrap(begin, strings.Repeat(" ", len(begin)), r.inline(m[3]))
	default:
		text := strings.TrimLeft(line, " ")
		begin := line[:min(len(line)-len(text), r.width/4)]
		r.wrap(begin, begin, r.inline(text))
	}
}

// wrap adds a text whose first line begins with one thing and whose others with another.
func (r *renderer) wrap(first, others, text string) {
	room := max(r.width-len(first), 1)
	for i, line := range strings.Split(wrapped(strings.TrimSpace(text), room), "\n") {
		begin := others
		if i == 0 {
			begin = first
		}
		r.lines = append(r.lines, begin+line)
	}
}

// wrapped breaks a painted text into lines. Lipgloss lets a hyphen hang over the edge, which a terminal would cut off:
// it is given less room then.
func wrapped(text string, room int) string {
	lines := lipgloss.Wrap(text, room, "")
	for less := room - 1; less > 0 && lipgloss.Width(lines) > room; less-- {
		lines = lipgloss.Wrap(text, less, "")
	}
	return lines
}

// code adds a line of code, cut where the width ends: its blanks matter.
func (r *renderer) code(line string) {
	const indent = "    "
	room := r.width - len(indent)
	for {
		head, rest := cut(line, room)
		r.lines = append(r.lines, indent+r.style.Notice(head))
		if rest == "" {
			return
		}
		line = rest
	}
}

// cut takes as much of a line as has room.
func cut(line string, room int) (head, rest string) {
	cells := 0
	for i, c := range line {
		cells += terminal.Cells(string(c))
		if cells > room && i > 0 {
			return line[:i], line[i:]
		}
	}
	return line, ""
}

// inline paints code, emphasis and links.
func (r *renderer) inline(text string) string {
	if r.style == (terminal.Style{}) {
		return text
	}
	return inline.ReplaceAllStringFunc(text, func(found string) string {
		m := inline.FindStringSubmatch(found)
		switch {
		case m[1] != "":
			return r.style.Notice(m[1])
		case m[2] != "":
			return r.style.Strong(m[2])
		case m[3] != "":
			return r.style.Accent(m[3])
		}
		return m[4] + " " + r.style.Dim("("+m[5]+")")
	})
}
