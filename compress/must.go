package compress

import (
	"cmp"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/compress/literal"
	"github.com/turnstone-dev/turnstone/turn"
)

// Shares of a summary's budget that may be taken by what must be in it. Whatever a conversation is like,
// the rest is left for telling what happened.
const (
	factPercent    = 40
	literalPercent = 25
)

// must is what a summary has to hold, as far as its budget goes, and what there is no room for.
type must struct {
	facts    []Fact   // in the order of the log
	literals []string // most important first
	omitted  []string
}

// label is what the facts of a kind stand behind in a summary.
type label struct {
	kind FactKind
	text string
}

var labels = []label{
	{FactDecision, "Decided"}, {FactProtected, "Kept"}, {FactRequest, "Open"}, {FactNext, "Next"}, {FactFile, "Files"},
}

// mentioned is the label that literals stand behind.
const mentioned = "Also"

func (f Fact) line() string {
	i := slices.IndexFunc(labels, func(l label) bool { return l.kind == f.Kind })
	return labels[i].text + ": " + f.Text + "\n"
}

// unlabelled takes the label off a line that [Fact.line] made.
func unlabelled(line string) string {
	head, rest, ok := strings.Cut(line, ": ")
	if ok && (head == mentioned || slices.ContainsFunc(labels, func(l label) bool { return l.text == head })) {
		return rest
	}
	return line
}

// demands finds what a summary within the request's budget must hold.
func demands(r *Request, limit int, said map[string]bool) must {
	var m must
	facts := r.Source.required(r.Mode, said)
	room := limit * factPercent / 100
	for _, f := range facts {
		cost := r.Count(f.line()) + 1
		if cost > room {
			m.omitted = append(m.omitted, f.Text)
			continue
		}
		room -= cost
		m.facts = append(m.facts, f)
	}
	slices.SortStableFunc(m.facts, func(a, b Fact) int { return cmp.Compare(a.Seq, b.Seq) })
	room = limit * literalPercent / 100
	for _, l := range r.Source.matters(facts) {
		cost := r.Count(" "+l+",") + 1
		// Side by side with others not even the user's own words stand word for word.
		if cost > room || len(invented(l, nil)) > 0 {
			m.omitted = append(m.omitted, l)
			continue
		}
		room -= cost
		m.literals = append(m.literals, l)
	}
	return m
}

// required are the facts that do not stand beside the summary, most important first: by kind, then the
// newest. Of the next steps the last ones count.
func (s *Source) required(mode string, said map[string]bool) []Fact {
	facts := append(s.Facts(), s.Protected(mode)...)
	next := int64(0)
	for _, f := range facts {
		if f.Kind == FactNext {
			next = max(next, f.Seq)
		}
	}
	seen := map[string]bool{}
	rank := func(f Fact) int {
		return slices.Index([]FactKind{FactDecision, FactProtected, FactRequest, FactFile, FactNext}, f.Kind)
	}
	slices.SortStableFunc(facts, func(a, b Fact) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(b.Seq, a.Seq))
	})
	return slices.DeleteFunc(facts, func(f Fact) bool {
		known := seen[f.Text]
		seen[f.Text] = true
		return known || s.beside(f.Seq) || f.Kind == FactNext && f.Seq != next || len(invented(f.Text, said)) > 0
	})
}

// matters are the literals that must not be lost, most important first: those that stand in a decision
// or in what the user said, and those that stand in two turns or more. What stands beside is not lost.
func (s *Source) matters(facts []Fact) []string {
	type place struct {
		text          string
		turns         int
		last          int64
		user, decided bool
		beside        bool
	}
	places := map[string]*place{}
	var order []*place
	for i := range s.Turns {
		t := &s.Turns[i]
		if !counts(t) {
			continue
		}
		text := material(t)
		beside := s.beside(t.Seq)
		for _, l := range literal.Find(text) {
			word := text[l.Start:l.End]
			if trivial(word, l.Kind) {
				continue
			}
			p := places[word]
			if p == nil {
				p = &place{text: word}
				places[word] = p
				order = append(order, p)
			}
			if p.last != t.Seq {
				p.turns++
			}
			p.last = t.Seq
			p.user = p.user || t.Role == turn.User
			p.beside = p.beside || beside
		}
	}
	for _, f := range facts {
		for _, l := range literal.Find(f.Text) {
			if p := places[f.Text[l.Start:l.End]]; p != nil && f.Kind == FactDecision {
				p.decided = true
			}
		}
	}
	order = slices.DeleteFunc(order, func(p *place) bool { return p.beside || !p.user && !p.decided && p.turns < 2 })
	slices.SortStableFunc(order, func(a, b *place) int {
		return cmp.Or(first(a.decided, b.decided), first(a.user, b.user), cmp.Compare(b.turns, a.turns), cmp.Compare(b.last, a.last))
	})
	all := make([]string, len(order))
	for i, p := range order {
		all[i] = p.text
	}
	return all
}

// first orders what is true before what is not.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// trivial reports whether a literal says nothing by itself: the number of an item, or data.
func trivial(word string, kind literal.Kind) bool {
	return kind == literal.Number && len(word) < 2 || len(word) > maxLiteral || strings.ContainsAny(word, "\n\r")
}

// maxLiteral is how many bytes a literal may have; what is longer is data.
const maxLiteral = 120
