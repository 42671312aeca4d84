package compress

import (
	"slices"

	"github.com/turnstone-dev/turnstone/turn"
)

// NewSource returns the source of a range that is made of those turns, which are whole units on the order of
// the log. What the user said, pins and calls without a result stay beside.
func NewSource(r turn.Range, turns []turn.Turn, pinned []turn.Range) Source {
	s := Source{Range: r, Turns: turns}
	for _, unit := range Units(turns) {
		pending := open(unit)
		for i := range unit {
			if t := &unit[i]; pending || t.Role == turn.User || covered(pinned, t.Seq) {
				s.stay(t.Seq)
			}
		}
	}
	return s
}

// stay adds a turn to those beside. Turns are added in order.
func (s *Source) stay(seq int64) {
	if last := len(s.Beside) - 1; last >= 0 && s.Beside[last].To == seq-1 {
		s.Beside[last].To = seq
		return
	}
	s.Beside = append(s.Beside, turn.Range{From: seq, To: seq})
}

func covered(ranges []turn.Range, seq int64) bool {
	return slices.ContainsFunc(ranges, func(r turn.Range) bool { return seq >= r.From && seq <= r.To })
}

// open reports whether a tool call in the unit has no result.
func open(unit []turn.Turn) bool {
	waiting := map[string]bool{}
	for i := range unit {
		for _, call := range unit[i].Calls() {
			waiting[call.ID] = true
		}
		if r, ok := unit[i].Content.(turn.Result); ok {
			delete(waiting, r.CallID)
		}
	}
	return len(waiting) > 0
}
