package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
)

// The marks of an account's parts in its bar.
const (
	markReserve = "="
	markMargin  = "+"
	markFree    = "."
	markOther   = "o"
	barWidth    = 64
)

var partMarks = map[budget.Part]string{
	budget.System: "s", budget.Tools: "t", budget.Sticky: "f", budget.Goal: "g", budget.Checkpoints: "c", budget.Said: "u",
	budget.Pins: "p", budget.Recent: "r", budget.Late: "l", budget.Reserve: markReserve,
}

// stretch is a part of an account's bar and a row of its table.
type stretch struct {
	mark, name string
	tokens     int
	share      int // the most it may have, 0 where nothing bounds it
	certainty  string
}

// stretches are the parts of an account that have any tokens, and what is left of the window.
func stretches(a budget.Account) []stretch {
	var all []stretch
	var reserve stretch
	for _, line := range a.Lines {
		if line.Count.Tokens == 0 {
			continue
		}
		mark := partMarks[line.Part]
		if mark == "" {
			mark = markOther
		}
		s := stretch{mark: mark, name: string(line.Part), tokens: line.Count.Tokens, share: line.Share, certainty: certainty(line.Count)}
		switch line.Part {
		case budget.System: // also where there is none: every prompt has what the model's template begins with
			s.name = "system prompt and template"
		case budget.Checkpoints:
			s.name = "checkpoints and their quotes"
		case budget.Reserve:
			s.certainty, s.share = "", 0
			reserve = s
			continue
		}
		all = append(all, s)
	}
	if margin := a.Prompt().Upper() - a.Prompt().Tokens; margin > 0 {
		all = append(all, stretch{mark: markMargin, name: "margin of the count", tokens: margin})
	}
	all = append(all, reserve)
	if free := a.Free(); free > 0 {
		all = append(all, stretch{mark: markFree, name: "free", tokens: free})
	}
	return all
}

// certainty says how sure a count is: estimated, +-10%.
func certainty(c budget.Count) string {
	if c.Margin == 0 {
		return string(c.Certainty)
	}
	return fmt.Sprintf("%s, +-%s%%", c.Certainty, strconv.FormatFloat(math.Round(1000*c.Margin)/10, 'f', -1, 64))
}

// accountLines shows an account as a bar and a table.
func accountLines(a budget.Account, style terminal.Style) []string {
	all := stretches(a)
	lines := []string{accountBar(a, all, style)}
	var rows [][]string
	for _, s := range all {
		most := ""
		if s.share > 0 {
			most = progress.Thousands(int64(s.share))
		}
		rows = append(rows, []string{s.mark, s.name, progress.Thousands(int64(s.tokens)), ofWindow(s.tokens, a), most, s.certainty})
	}
	if over := -a.Free(); over > 0 {
		rows = append(rows, []string{"|", "over the window by", progress.Thousands(int64(over)), ofWindow(over, a)})
	}
	usable := fmt.Sprintf("usable of a context of %s", progress.Thousands(int64(a.Window.Context)))
	rows = append(rows, []string{"[]", usable, progress.Thousands(int64(a.Window.Usable)), ofWindow(a.Window.Usable, a)})
	head := []string{"", "PART", "TOKENS", "SHARE", "AT MOST", "CERTAINTY"}
	alignRight(head, rows, 2, 3, 4)
	return append(lines, tabulate(head, rows, style)...)
}

func ofWindow(tokens int, a budget.Account) string {
	return fmt.Sprintf("%.1f%%", 100*float64(tokens)/float64(a.Window.Usable))
}

// accountBar draws the window, a letter for each part. What does not fit stands behind its end.
func accountBar(a budget.Account, all []stretch, style terminal.Style) string {
	whole := max(a.Window.Usable, a.Total())
	end := cells(a.Window.Usable, whole)
	var b strings.Builder
	b.WriteByte('[')
	drawn := 0
	for i, width := range widthsOf(all, whole) {
		mark, to := all[i].mark, drawn+width
		inside := max(min(to, end)-drawn, 0)
		b.WriteString(painted(style, mark, strings.Repeat(mark, inside)))
		if drawn < end && to >= end && end < barWidth {
			b.WriteString(style.Alarm("|"))
		}
		b.WriteString(style.Alarm(strings.Repeat(mark, width-inside)))
		drawn = to
	}
	b.WriteByte(']')
	return b.String()
}

// widthsOf says how wide each part is drawn: all of them fill the bar, and none is so small that it is not
// seen.
func widthsOf(all []stretch, whole int) []int {
	widths := make([]int, len(all))
	sum, drawn, widest := 0, 0, 0
	for i, s := range all {
		sum += s.tokens
		widths[i] = cells(sum, whole) - drawn
		drawn += widths[i]
	}
	for i := range widths {
		if widths[i] > widths[widest] {
			widest = i
		}
	}
	for i := range widths {
		if widths[i] == 0 {
			widths[i]++
			widths[widest]--
		}
	}
	return widths
}

// cells is where a number of tokens ends in a bar of the whole.
func cells(tokens, whole int) int {
	return int(math.Round(float64(tokens) * barWidth / float64(whole)))
}

func painted(style terminal.Style, mark, text string) string {
	switch mark {
	case partMarks[budget.Recent]:
		return style.Accent(text)
	case partMarks[budget.Pins], partMarks[budget.Said], partMarks[budget.Checkpoints]:
		return style.Good(text)
	case markReserve, markMargin, markFree:
		return style.Dim(text)
	}
	return style.Notice(text)
}
