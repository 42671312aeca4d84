package compress

import (
	"slices"
	"strings"

	stems "github.com/turnstone-dev/turnstone/internal/words"
)

// bearing is what of the turns can bear a claim out. Most summaries make none, so it is found when it is asked for.
type bearing struct {
	facts     map[Fact]bool   // without their turns, compared as sayings
	sentences map[string]bool // of all turns, as sayings
	terms     []map[string]bool
	text      string // of all turns, plain
	own       map[string]bool
}

// labelled reports whether a line has a label of the engine, and whether what stands behind it was found in the turns:
// a fact of that kind, or files and literals that stand there.
func (c *checker) labelled(head, rest string) (borne, labelled bool) {
	i := slices.IndexFunc(labels, func(l label) bool { return strings.EqualFold(l.text, head) })
	switch {
	case strings.EqualFold(head, mentioned), i >= 0 && labels[i].kind == FactFile:
		c.read()
		for item := range strings.SplitSeq(rest, ", ") {
			if !strings.Contains(c.bearing.text, plain(item)) {
				return false, true
			}
		}
		return true, true
	case i < 0:
		return false, false
	}
	if c.bearing.facts == nil {
		c.bearing.facts = map[Fact]bool{}
		for _, f := range append(c.r.Source.Facts(), c.r.Source.Protected(c.r.Mode)...) {
			if len(invented(f.Text, c.said)) == 0 {
				c.bearing.facts[Fact{Kind: f.Kind, Text: saying(f.Text)}] = true
			}
		}
	}
	return c.bearing.facts[Fact{Kind: labels[i].kind, Text: saying(rest)}], true
}

// read reads the turns.
func (c *checker) read() {
	if c.bearing.sentences != nil {
		return
	}
	c.bearing.sentences = map[string]bool{}
	var text strings.Builder
	for i := range c.r.Source.Turns {
		t := &c.r.Source.Turns[i]
		if !counts(t) {
			continue
		}
		words := material(t)
		text.WriteString(plain(words) + "\n")
		eachSentence(words, func(sentence string) {
			s := saying(sentence)
			if s == "" || c.bearing.sentences[s] {
				return
			}
			c.bearing.sentences[s] = true
			if strings.HasSuffix(s, "?") {
				return
			}
			terms := map[string]bool{}
			for _, term := range stems.Terms(sentence) {
				terms[term] = true
			}
			c.bearing.terms = append(c.bearing.terms, terms)
		})
	}
	c.bearing.text = text.String()
}

// verbatim reports whether a turn has the whole sentence: a part of one may say the contrary.
func (c *checker) verbatim(sentence string) bool {
	c.read()
	return c.bearing.sentences[saying(sentence)]
}

// backed reports whether a turn says about what the text does, and not as a question.
func (c *checker) backed(text string) bool {
	c.read()
	yes, sure := told(c.bearing.terms, text)
	return yes || !sure
}

// copies reports whether a line is one that the engine's own summary has.
func (c *checker) copies(line string) bool {
	if c.bearing.own == nil {
		c.bearing.own = map[string]bool{}
		summary, _ := c.extractive()
		for own := range strings.SplitSeq(summary, "\n") {
			c.bearing.own[strings.TrimSpace(own)] = true
		}
	}
	return c.bearing.own[line] && !strings.HasPrefix(line, moreTurns)
}
