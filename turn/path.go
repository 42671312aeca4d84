package turn

import "slices"

// Path are the turns that a session's prompts may show: inclusive ranges of seqs, ascending, the last of which goes on for
// ever if its To is 0. An empty one has all turns.
type Path []Range

// WholePath is the path that has all turns, for those who take an empty one for another default.
func WholePath() Path { return Path{{From: 1}} }

// Off reports whether the turn is not on the path: a restore left it behind.
func (p Path) Off(seq int64) bool {
	return len(p) > 0 && !slices.ContainsFunc(p, func(r Range) bool { return seq >= r.From && (r.To == 0 || seq <= r.To) })
}

// along returns the parts of a span that are on the path, ascending.
func (p Path) along(s Span) []Span {
	if len(p) == 0 {
		return []Span{s}
	}
	parts := make([]Span, 0, len(p))
	for _, r := range p {
		part := s
		part.From = max(s.From, r.From)
		if r.To != 0 {
			part.To = min(s.To, r.To)
		}
		parts = append(parts, part)
	}
	return parts
}
