package compress

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// more names the turns that say what a summary does not, as far as room tokens go: first those with facts
// for which there was no room, then those with most literals that are lost otherwise. Whoever needs
// them can look them up by their numbers.
func (c *checker) more(summary string, room int) string {
	turns := c.untoldTurns(summary)
	line := ""
	for n := range turns {
		next := numbers(turns[:n+1])
		if c.r.Count(next) > room {
			break
		}
		line = next
	}
	return line
}

// untoldTurns are the turns that say what a summary does not, those first that are to be named.
func (c *checker) untoldTurns(summary string) []int64 {
	lost := map[int64]int{}
	hay := newHaystack(summary)
	for _, p := range c.must.places {
		if !hay.holds(p.text) {
			lost[p.first]++
		}
	}
	for _, seq := range c.must.hidden {
		lost[seq] += 1 << 20
	}
	turns := make([]int64, 0, len(lost))
	for seq := range lost {
		turns = append(turns, seq)
	}
	slices.SortFunc(turns, func(a, b int64) int { return cmp.Or(cmp.Compare(lost[b], lost[a]), cmp.Compare(a, b)) })
	return turns
}

// names reports whether a line that names turns is what the engine would have written under the rest of the summary,
// in the same room or a smaller one.
func (c *checker) names(summary, line string) bool {
	var rest strings.Builder
	lines := 0
	for other := range strings.SplitAfterSeq(summary, "\n") {
		if strings.TrimSpace(other) != line {
			rest.WriteString(other)
			continue
		}
		lines++
	}
	named := 0
	for _, r := range Handles(line, c.r.Source.Range) {
		named += int(r.To-r.From) + 1
	}
	turns := c.untoldTurns(rest.String())
	return lines == 1 && named > 0 && named <= len(turns) && numbers(turns[:named]) == line+"\n" && c.r.Count(line+"\n") <= c.limit*morePercent/100
}

// moreTurns begins the line that names turns that say more.
const moreTurns = more + ": turns"

// numbers writes the numbers of turns in order, as [Handles] reads them: "More: turns 3, 17-19".
func numbers(turns []int64) string {
	turns = slices.Sorted(slices.Values(turns))
	var b strings.Builder
	b.WriteString(moreTurns)
	for i := 0; i < len(turns); i++ {
		from := i
		for i+1 < len(turns) && turns[i+1] == turns[i]+1 {
			i++
		}
		if from > 0 {
			b.WriteByte(',')
		}
		b.WriteString(" " + strconv.FormatInt(turns[from], 10))
		if i > from {
			b.WriteString("-" + strconv.FormatInt(turns[i], 10))
		}
	}
	b.WriteByte('\n')
	return b.String()
}
