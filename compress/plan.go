package compress

import (
	"slices"

	"github.com/turnstone-dev/turnstone/turn"
)

// Plan finds what a pass over turns can summarise: their beginning, in whole units, so that the newest
// units that take at least keep tokens stay as they are. What the user said, pins and tool calls that
// have no result yet stay beside the summary. Ok is false if next to nothing would leave the prompt: a
// pass would make no progress.
//
// The turns are in the order of the log; the source shares their memory.
func Plan(turns []turn.Turn, keep int, pinned []turn.Range, count func(string) int) (s Source, ok bool) {
	units := Units(turns)
	end := len(units)
	for spent := 0; end > 0 && spent < keep; end-- {
		for i := range units[end-1] {
			if t := &units[end-1][i]; counts(t) {
				spent += count(transcript(t))
			}
		}
	}
	if end == 0 {
		return Source{}, false
	}
	last := units[end-1]
	size := len(turns)
	for _, unit := range units[end:] {
		size -= len(unit)
	}
	s = NewSource(turn.Range{From: turns[0].Seq, To: last[len(last)-1].Seq}, turns[:size], pinned)
	return s, s.progress(count)
}

// progress reports whether enough leaves the prompt for a pass to be worth it.
func (s *Source) progress(count func(string) int) bool {
	spent := 0
	for i := range s.Turns {
		if t := &s.Turns[i]; counts(t) && !s.beside(t.Seq) {
			if spent += count(transcript(t)); spent >= leastSource {
				return true
			}
		}
	}
	return false
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
