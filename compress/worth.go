package compress

import (
	"cmp"
	"slices"

	"github.com/turnstone-dev/turnstone/turn"
)

// factWorth is how many literals a fact is worth.
const factWorth = 8

// Worth says which turns are worth reading again when the checkpoint of the source ages: whole units of at
// most so many tokens together, those first that say most facts and literals for their size, besides
// what the user said. A checkpoint that is made of these again, with whatever is merged with it, costs
// the same however long the conversation was. The ranges are ascending and apart; none means
// all of the source's range, as if nothing was found that is worth more than the rest.
func (s *Source) Worth(mode string, most int, count func(string) int) []turn.Range {
	said := sayings(s.Turns)
	facts := s.required(mode, said)
	worth := map[int64]float64{}
	for _, f := range facts {
		worth[f.Seq] += factWorth
	}
	for _, p := range s.literals(facts) {
		worth[p.first]++
	}
	type candidate struct {
		turn.Range
		tokens int
		gain   float64
	}
	var all []candidate
	var whole []turn.Range
	total := 0
	for _, unit := range Units(s.Turns) {
		c := candidate{Range: turn.Range{From: unit[0].Seq, To: unit[len(unit)-1].Seq}}
		for i := range unit {
			if t := &unit[i]; counts(t) {
				c.tokens += count(transcript(t))
				c.gain += worth[t.Seq]
			}
		}
		total += c.tokens
		whole = append(whole, c.Range)
		c.gain /= float64(max(c.tokens, 1))
		if unit[0].Role != turn.User {
			all = append(all, c)
		}
	}
	if total <= most {
		if whole = joined(whole); len(whole) == 1 && whole[0] == s.Range {
			return nil
		}
		return whole
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.gain, a.gain) })
	var kept []turn.Range
	for _, c := range all {
		if c.tokens <= most {
			most -= c.tokens
			kept = append(kept, c.Range)
		}
	}
	slices.SortFunc(kept, func(a, b turn.Range) int { return cmp.Compare(a.From, b.From) })
	return joined(kept)
}

// joined puts ranges together that follow each other.
func joined(ranges []turn.Range) []turn.Range {
	var out []turn.Range
	for _, r := range ranges {
		if last := len(out) - 1; last >= 0 && out[last].To+1 == r.From {
			out[last].To = r.To
			continue
		}
		out = append(out, r)
	}
	return out
}
