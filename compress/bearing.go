package compress

import (
	"slices"
	"strings"

	stems "github.com/turnstone-dev/turnstone/internal/words"
)

// bearing is what of the turns can bear a claim out. Most summaries make none of a kind, so each is found when it is
// asked for.
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
		for item := range strings.SplitSeq(rest, ", ") {
			if !strings.Contains(c.material(), plain(item)) {
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

// material is what all turns say, plain.
func (c *checker) material() string {
	if c.bearing.text == "" {
		var text strings.Builder
		c.eachTurn(func(words string) { text.WriteString(plain(words) + "\n") })
		c.bearing.text = text.String()
	}
	return c.bearing.text
}

func (c *checker) eachTurn(fn func(words string)) {
	for i := range c.r.Source.Turns {
		if t := &c.r.Source.Turns[i]; counts(t) {
			fn(material(t))
		}
	}
}

// verbatim reports whether a turn has the whole sentence: a part of one may say the contrary.
func (c *checker) verbatim(sentence string) bool {
	if c.bearing.sentences == nil {
		c.bearing.sentences = map[string]bool{}
		c.eachTurn(func(words string) {
			eachSentence(words, func(sentence string) { c.bearing.sentences[saying(sentence)] = true })
		})
	}
	said := saying(sentence)
	return said != "" && c.bearing.sentences[said]
}

// backed reports whether a turn says about what the text does, and not as a question.
func (c *checker) backed(text string) bool {
	if c.bearing.terms == nil {
		c.bearing.terms = []map[string]bool{}
		seen := map[string]bool{"": true}
		c.eachTurn(func(words string) {
			eachSentence(words, func(sentence string) {
				s := saying(sentence)
				if seen[s] || strings.HasSuffix(s, "?") {
					return
				}
				seen[s] = true
				terms := map[string]bool{}
				for _, term := range stems.Terms(sentence) {
					terms[term] = true
				}
				c.bearing.terms = append(c.bearing.terms, terms)
			})
		})
	}
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
