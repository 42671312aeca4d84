package compress

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	stems "github.com/turnstone-dev/turnstone/internal/words"
	"github.com/turnstone-dev/turnstone/turn"
)

// heldPercent is how many of the literals that matter a summary must hold.
const heldPercent = 90

// Verdict is what a summary was found to be.
type Verdict struct {
	// Problems is why it cannot stand for its source, in words that whoever made it can act upon; none
	// where it can.
	Problems []string
	// Facts and Literals that must be there and are not. A few missing literals are no problem.
	Facts    []Fact
	Literals []string
	// Invented are the sentences that say of the user what the user did not say, that ask for what nobody asked for,
	// or that stand behind a label of the engine and are not what it found.
	Invented []string
	// Tokens is what the summary takes, Source what the turns take that it replaces.
	Tokens, Source int
}

// OK reports whether the summary can stand for its source.
func (v *Verdict) OK() bool { return len(v.Problems) == 0 }

// Verify holds a summary against its source: it is not empty and no error message, takes strictly fewer
// tokens than what it replaces and no more than its budget, tells every decision, open request and
// modified file of the range, holds nine literals in ten of those that matter, and says nothing of the user
// that the user did not say word for word, nor asks for anything that nobody did. What the budget has no room for, and what stands
// beside the summary, is not asked for.
func Verify(r Request, summary string) Verdict {
	c := newChecker(&r)
	return c.verify(summary)
}

// verify holds what somebody wrote against the source.
func (c *checker) verify(summary string) Verdict {
	v := c.verifyCopy(summary)
	for _, s := range c.claims(summary) {
		v.Invented = append(v.Invented, s.text)
		v.problem("%s: %s", s.why, clip(s.text, maxSentence))
	}
	return v
}

// checker holds what is known about a source, so that several summaries can be held against it.
type checker struct {
	r      *Request
	limit  int
	source int
	said   map[string]bool
	must   must
	// terms are the words of the first seen turns.
	terms   map[string]bool
	seen    int
	bearing bearing
}

func newChecker(r *Request) *checker {
	c := &checker{r: r, said: sayings(r.Source.Turns), terms: map[string]bool{}}
	c.limit, c.source = r.limit()
	c.must = demands(r, c.limit, c.said)
	return c
}

func (v *Verdict) problem(format string, args ...any) {
	v.Problems = append(v.Problems, fmt.Sprintf(format, args...))
}

// verifyCopy holds against the source what the engine copied from it, but for whether it was said.
func (c *checker) verifyCopy(summary string) Verdict {
	v := Verdict{Tokens: c.r.Count(summary), Source: c.source}
	problem := v.problem
	switch {
	case strings.TrimSpace(summary) == "":
		problem("it is empty")
	case !utf8.ValidString(summary) || strings.IndexByte(summary, 0) >= 0:
		problem("it is no text")
	case c.excuse(summary):
		problem("it is an error message or an excuse, not a summary")
	case !c.related(summary):
		problem("it is about something else")
	}
	switch {
	case v.Tokens >= c.source:
		problem("it takes %d tokens, the turns themselves %d", v.Tokens, c.source)
	case v.Tokens > c.limit:
		problem("it takes %d tokens, at most %d", v.Tokens, c.limit)
	}
	hay := newHaystack(summary)
	v.Facts = missing(c.must.facts, hay)
	for _, f := range v.Facts {
		problem("the %s is missing: %s", f.Kind, f.Text)
	}
	for _, l := range c.must.literals {
		if !hay.holds(l) {
			v.Literals = append(v.Literals, l)
		}
	}
	if held := len(c.must.literals) - len(v.Literals); held*100 < heldPercent*len(c.must.literals) {
		problem("it holds %d of the %d literals that matter; missing are %s", held, len(c.must.literals), strings.Join(v.Literals, ", "))
	}
	return v
}

// excuses begin what a service says instead of an answer.
var excuses = []string{
	"i'm sorry", "i am sorry", "sorry, ", "i apologize", "i apologise", "i cannot", "i can't", "i can not", "i am unable", "i'm unable", "unable to ", "as an ai",
	"as a language model", "error", "an error occurred", "internal server error", "rate limit", "too many requests", "429", "500", "502", "503", "{\"error\"", "<html",
	"<!doctype", "request timed out", "timeout", "service unavailable", "context length exceeded", "no content", "bad gateway", "please provide", "sure, please",
}

// excuse reports whether a summary begins like an error message and no turn has that sentence.
func (c *checker) excuse(summary string) bool {
	low := plain(summary)
	if !hasPrefix(low, excuses) {
		return false
	}
	opening := ""
	eachSentence(summary, func(s string) {
		if opening == "" {
			opening = plain(s)
		}
	})
	return !slices.ContainsFunc(c.r.Source.Turns, func(t turn.Turn) bool {
		return counts(&t) && strings.Contains(plain(t.Content.Searchable()), opening)
	})
}

// relatedPercent is how many of a summary's words must stand in the turns.
const relatedPercent = 33

// related reports whether a summary speaks of what the turns speak of. It reads no more turns than it
// needs to know.
func (c *checker) related(summary string) bool {
	own := slices.DeleteFunc(stems.Set(summary), func(term string) bool { return among(fillers, term) })
	strange := make(map[string]bool, len(own))
	for _, term := range own {
		if !c.terms[term] {
			strange[term] = true
		}
	}
	few := func() bool { return (len(own)-len(strange))*100 < relatedPercent*len(own) }
	for few() && c.seen < len(c.r.Source.Turns) {
		t := &c.r.Source.Turns[c.seen]
		c.seen++
		if !counts(t) {
			continue
		}
		for _, term := range stems.Terms(transcript(t)) {
			c.terms[term] = true
			delete(strange, term)
		}
	}
	return !few()
}

// missing returns those of the facts that a summary does not tell.
func missing(facts []Fact, summary *haystack) []Fact {
	var missing []Fact
	var text string
	var lines []map[string]bool
	for _, f := range facts {
		switch f.Kind {
		case FactFile:
			if !summary.holds(f.Text) {
				missing = append(missing, f)
			}
			continue
		case FactDecision, FactNext:
			if lines == nil {
				lines = termsOfLines(summary.text)
			}
			if yes, sure := told(lines, f.Text); sure {
				if !yes {
					missing = append(missing, f)
				}
				continue
			}
		}
		if text == "" {
			text = plain(summary.text)
		}
		if !strings.Contains(text, plain(f.Text)) {
			missing = append(missing, f)
		}
	}
	return missing
}

// termsOfLines are the words of every line, and of its sentences and their parts where it has several.
func termsOfLines(summary string) []map[string]bool {
	var all []map[string]bool
	add := func(text string) {
		terms := map[string]bool{}
		for _, term := range stems.Terms(text) {
			terms[term] = true
		}
		all = append(all, terms)
	}
	for line := range strings.SplitSeq(summary, "\n") {
		add(line)
		eachSentence(line, func(sentence string) {
			if len(sentence) < len(line) {
				add(sentence)
			}
			for part := range strings.SplitSeq(sentence, ";") {
				if len(part) < len(sentence) {
					add(part)
				}
			}
		})
	}
	return all
}

// fillers are stems that a paraphrase may leave out or bring in; negations are not among them.
var fillers = words(`a an and are as at be been by for from had has have i in is it its of on or our that the their then there these they this
	to was we were which will with would ll ve re s let use`)

// negations turn a sentence round.
var negations = words(`no not never cannot cant dont wont without isnt doesnt didnt shouldnt mustnt none against instead`)

// toldPercent is how many of a fact's words one line of a summary must have to tell it.
const toldPercent = 80

// told reports whether one line or sentence tells a fact in other words: with nearly all of its words,
// and denying exactly what it denies. It is not sure of a fact that has no words of its own.
func told(lines []map[string]bool, fact string) (yes, sure bool) {
	terms := stems.Set(fact)
	own := slices.DeleteFunc(slices.Clone(terms), func(term string) bool { return among(fillers, term) })
	if len(own) == 0 {
		return false, false
	}
	for _, line := range lines {
		hits := 0
		for _, term := range own {
			if line[term] {
				hits++
			}
		}
		denied := func(n string) bool { return line[n] != slices.Contains(terms, n) }
		if hits*100 >= toldPercent*len(own) && !slices.ContainsFunc(negations, denied) {
			return true, true
		}
	}
	return false, true
}
