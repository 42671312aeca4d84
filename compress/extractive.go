package compress

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/compress/extract"
	"github.com/turnstone-dev/turnstone/cortex"
)

// Extractive summarises in the turns' own words: what must be told is copied, and the rest of the
// budget holds the sentences that say most. It needs no model, is deterministic and always fits. What
// the user said is not cut up: it is quoted where it must be told, or left to stand beside.
type Extractive struct{}

// Summarise never fails, and is done long before a deadline matters. The summary is empty if the budget
// is too small for anything at all.
func (Extractive) Summarise(_ context.Context, r Request) (string, error) {
	summary, _ := newChecker(&r).extractive()
	return summary, nil
}

// extractive returns the first of ever plainer summaries that stands, and how it does.
func (c *checker) extractive() (string, Verdict) {
	facts := listing(c.must.facts)
	handle := c.handle()
	for _, summary := range []string{
		c.compose(facts), handle + facts + mentions(c.must.literals), facts + mentions(c.must.literals), handle,
	} {
		if v := c.verifyCopy(summary); v.OK() && len(invented(summary, c.said)) == 0 {
			return summary, v
		}
	}
	return "", Verdict{}
}

// handle says which turns these were.
func (c *checker) handle() string {
	var from, to int64
	for i := range c.r.Source.Turns {
		t := &c.r.Source.Turns[i]
		if !counts(t) {
			continue
		}
		if from == 0 {
			from = t.Seq
		}
		to = t.Seq
	}
	if from == to {
		return fmt.Sprintf("[%d]\n", from)
	}
	return fmt.Sprintf("[%d]-[%d]\n", from, to)
}

// composeTries bounds how often a summary is made smaller until it fits.
const composeTries = 6

// compose writes the facts, as much of the turns as there is room for, and the literals that are in
// neither.
func (c *checker) compose(facts string) string {
	handles := c.limit * morePercent / 100
	most := c.limit - handles
	room := most - c.r.Count(facts) - c.r.Count(mentions(c.lost(facts)))
	var lines *extract.Prepared
	best := ""
	for range composeTries {
		if room <= 0 {
			break
		}
		if lines == nil {
			lines = extract.Prepare(c.untold(), c.focus(), c.r.Count)
		}
		body := c.honest(lines.Fit(room).Text)
		summary := facts + body + mentions(c.lost(facts+body))
		spare := most - c.r.Count(summary)
		if spare >= 0 && len(summary) > len(best) {
			best = summary
		}
		if spare >= 0 && (best != summary || spare*20 <= c.limit) {
			break
		}
		// What the literals did not need is tried once more for the turns; what is too much is taken back.
		if spare > 0 {
			room += spare * 9 / 10
		} else {
			room += spare - room/16 - 1
		}
	}
	if best == "" {
		best = facts + mentions(c.lost(facts))
	}
	return best + c.more(best, handles)
}

// untold are the lines of the turns without what the user said and without the facts, which are told
// already or stand beside.
func (c *checker) untold() []extract.Line {
	lines := slices.DeleteFunc(c.r.Source.Lines(), func(l extract.Line) bool { return l.User })
	told := map[int64][]string{}
	for _, f := range slices.Concat(c.must.facts, c.must.quoted) {
		if f.Kind != FactFile {
			told[f.Seq] = append(told[f.Seq], f.Text)
		}
	}
	for i := range lines {
		for _, fact := range told[lines[i].Seq] {
			lines[i].Text = without(lines[i].Text, fact)
		}
	}
	return lines
}

// without takes a fact out of a text: the line of its marker, or its sentence.
func without(text, fact string) string {
	var b strings.Builder
	for line := range strings.SplitAfterSeq(text, "\n") {
		if markers := cortex.ParseMarkers(line); len(markers) > 0 && squeeze(markers[0].Text) == fact {
			continue
		}
		b.WriteString(strings.Replace(line, fact, "", 1))
	}
	return b.String()
}

// lost are the literals that matter and are not in the text.
func (c *checker) lost(text string) []string {
	var lost []string
	hay := newHaystack(text)
	for _, l := range c.must.literals {
		if !hay.holds(l) {
			lost = append(lost, l)
		}
	}
	return lost
}

// honest leaves out the lines that say of the user what the user did not say, or look as if the engine named turns.
func (c *checker) honest(text string) string {
	if len(invented(text, c.said)) == 0 && !strings.Contains(text, moreTurns) {
		return text
	}
	var b strings.Builder
	for line := range strings.SplitAfterSeq(text, "\n") {
		if len(invented(line, c.said)) == 0 && !strings.HasPrefix(strings.TrimSpace(line), moreTurns) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// focus are the words that matter more: of the goal, of what was noticed, and of the older summary.
func (c *checker) focus() string {
	var words []string
	if g := c.r.Goal; g != nil {
		words = append(words, g.Title, g.Description)
		for _, m := range g.Milestones {
			words = append(words, m.Description)
		}
	}
	words = append(words, c.r.Insights...)
	return strings.Join(append(words, c.r.Guide), "\n")
}
