package compress

import (
	"cmp"
	"slices"
	"strings"
)

// Shares of a summary's budget that may be taken by what must be in it. Whatever a conversation is like,
// the rest is left for telling what happened.
const (
	factPercent    = 40
	literalPercent = 25
	morePercent    = 6
)

// must is what a summary has to hold, as far as its budget goes, and what there is no room for.
type must struct {
	facts    []Fact   // in the order of the log
	literals []string // most important first
	omitted  []string
	// places are where every literal of the turns stands that does not stand beside.
	places []*place
	// hidden are the turns of the facts for which there is no room.
	hidden []int64
	// quoted are the facts that stand beside the summary.
	quoted []Fact
}

// label is what the facts of a kind stand behind in a summary.
type label struct {
	kind FactKind
	text string
}

var labels = []label{
	{FactDecision, "Decided"}, {FactProtected, "Kept"}, {FactRequest, "Open"}, {FactNext, "Next"}, {FactFile, "Files"},
}

// What literals, and the numbers of turns that say more, stand behind.
const (
	mentioned = "Also"
	more      = "More"
)

func (f Fact) line() string {
	i := slices.IndexFunc(labels, func(l label) bool { return l.kind == f.Kind })
	return labels[i].text + ": " + f.Text + "\n"
}

// unlabelled takes the label off a line that [Fact.line] made.
func unlabelled(line string) string {
	head, rest, ok := strings.Cut(line, ": ")
	if ok && (head == mentioned || head == more || slices.ContainsFunc(labels, func(l label) bool { return l.text == head })) {
		return rest
	}
	return line
}

// demands finds what a summary within the request's budget must hold.
func demands(r *Request, limit int, said map[string]bool) must {
	var m must
	facts := r.Source.required(r.Mode, said)
	facts, m.quoted = apart(facts, r.Quoted)
	room := limit * factPercent / 100
	for _, f := range facts {
		cost := r.Count(f.line()) + 1
		if cost > room {
			m.omitted = append(m.omitted, f.Text)
			m.hidden = append(m.hidden, f.Seq)
			continue
		}
		room -= cost
		m.facts = append(m.facts, f)
	}
	slices.SortStableFunc(m.facts, func(a, b Fact) int { return cmp.Compare(a.Seq, b.Seq) })
	room = limit * literalPercent / 100
	m.places = r.Source.literals(facts)
	for _, l := range matters(m.places) {
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

// apart tells the facts that are part of what is quoted from the others.
func apart(facts []Fact, quoted []string) (rest, beside []Fact) {
	text := plain(strings.Join(quoted, "\n"))
	for _, f := range facts {
		if f.Kind.Quoted() && strings.Contains(text, plain(f.Text)) {
			beside = append(beside, f)
			continue
		}
		rest = append(rest, f)
	}
	return rest, beside
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
