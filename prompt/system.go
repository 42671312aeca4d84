package prompt

import (
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/cortex"
)

// systemMessage renders the beginning of the prompt as one message, since many models' templates know only
// one. Ok is false where there is nothing to say. The tallies say what each part of it takes.
func systemMessage(s *Settings, g *cortex.Goal, c *budget.Counter) (m Message, tallies map[budget.Part]budget.Tally, ok bool) {
	sticky, goal := stickyText(s.Sticky), ""
	if g != nil {
		goal = goalBlock(g)
	}
	var sections []string
	for _, text := range []string{
		strings.TrimRight(s.System, "\n"), bullets("# Mandates", s.Mandates), skills(s.Skills), bullets("# Before you answer, make sure of this", s.Checks), sticky, goal,
	} {
		if text != "" {
			sections = append(sections, text)
		}
	}
	tallies = map[budget.Part]budget.Tally{budget.Tools: toolTally(s.Tools, c)}
	if len(sections) == 0 {
		return Message{}, tallies, false
	}
	text := strings.Join(sections, "\n\n")
	// The whole is counted as one text, since that is what is sent: what the joints cost is the system
	// prompt's.
	whole := c.Text(unforged(text))
	tallies[budget.Sticky] = c.Text(unforged(sticky))
	tallies[budget.Goal] = c.Text(unforged(goal))
	tallies[budget.System] = whole.Minus(tallies[budget.Sticky]).Minus(tallies[budget.Goal]).Plus(budget.Tally{Messages: 1})
	return Message{Role: System, Parts: []Part{{Text: text}}}, tallies, true
}

// toolTally counts definitions as data, whatever the vocabulary: every provider writes them in a form of its own.
func toolTally(tools []Definition, c *budget.Counter) budget.Tally {
	var t budget.Tally
	for _, d := range tools {
		t = t.Plus(c.Data(d.Name)).Plus(c.Data(d.Description)).Plus(c.Data(d.Schema)).Plus(budget.Tally{Tools: 1})
	}
	return t
}

func bullets(title string, lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return title + "\n\n" + strings.Join(linesOf(lines, func(s string) string { return "- " + s }), "\n")
}

func skills(list []Material) string {
	if len(list) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("# Skills")
	for _, m := range list {
		fmt.Fprintf(&b, "\n\n## %s\n\n%s", m.Name, strings.TrimRight(m.Text, "\n"))
	}
	return b.String()
}

func stickyText(files []Material) string {
	if len(files) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("# Files")
	for _, m := range files {
		fmt.Fprintf(&b, "\n\n<file name=%q>\n%s\n</file>", m.Name, strings.TrimRight(m.Text, "\n"))
	}
	return b.String()
}
