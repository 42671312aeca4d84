package compress

import (
	"cmp"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/compress/literal"
	"github.com/turnstone-dev/turnstone/turn"
)

// maxLiteral is how many bytes a literal may have; what is longer is data.
const maxLiteral = 120

// place is where a literal stands in the turns.
type place struct {
	text  string
	turns int
	// first and last are the turns, as far as they are known, that say it.
	first, last   int64
	user, decided bool
	beside        bool
}

// literals finds the literals of the turns, in order, without those that stand beside.
func (s *Source) literals(facts []Fact) []*place {
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
				p = &place{text: word, first: t.Seq}
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
		if f.Kind != FactDecision {
			continue
		}
		for _, l := range literal.Find(f.Text) {
			if p := places[f.Text[l.Start:l.End]]; p != nil {
				p.decided = true
			}
		}
	}
	return slices.DeleteFunc(order, func(p *place) bool { return p.beside })
}

// matters are the literals that must not be lost, most important first: those that stand in a decision
// or in what the user said, and those that stand in two turns or more.
func matters(places []*place) []string {
	order := slices.DeleteFunc(slices.Clone(places), func(p *place) bool { return !p.matters() })
	slices.SortStableFunc(order, func(a, b *place) int {
		return cmp.Or(first(a.decided, b.decided), first(a.user, b.user), cmp.Compare(b.turns, a.turns), cmp.Compare(b.last, a.last))
	})
	all := make([]string, len(order))
	for i, p := range order {
		all[i] = p.text
	}
	return all
}

func (p *place) matters() bool { return p.user || p.decided || p.turns > 1 }

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
	return kind == literal.Number && len(word) < 2 || len(word) > maxLiteral || strings.ContainsAny(word, "\n\r\x00")
}
