package prompt

import (
	"cmp"
	"slices"

	"github.com/turnstone-dev/turnstone/turn"
)

// Forgetting returns the epoch that follows one when turns of its session are forgotten, after the session's last turn:
// it shows what the one before showed, with tombstones in their place, also of what it quoted of them or named: others may
// have said the same, and the next prompt looks for them. With whole, all of the session was forgotten, and it begins anew
// behind that.
func (e Epoch) Forgetting(head int64, whole bool, gone func(seq int64) bool) Epoch {
	e.Number++
	e.AfterSeq, e.Reason = head, ReasonForgot
	e.Quotes = withTombstones(e.Quotes, e.Unquoted, gone)
	if whole {
		e.Path, e.From = []turn.Range{{From: head + 1}}, head+1
		e.Kept, e.Checkpoints, e.Paged, e.Quotes, e.Unquoted, e.Goal = nil, nil, nil, nil, nil, nil
		e.Hold, e.Before = false, 0
	}
	return e
}

// withTombstones has a quote that is no longer there, and does not tell how long it was, in the place of those of each turn
// that is gone, and one for each range of named turns of which one is.
func withTombstones(quotes []Quote, named []turn.Range, gone func(seq int64) bool) []Quote {
	var all []Quote
	for _, q := range quotes {
		if gone(q.Turn) {
			q = Quote{Turn: q.Turn, To: 1}
		}
		all = append(all, q)
	}
	for _, r := range named {
		for seq := r.From; seq <= r.To; seq++ {
			if gone(seq) {
				all = append(all, Quote{Turn: seq, To: 1})
				break
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Quote) int { return cmp.Compare(a.Turn, b.Turn) })
	return slices.Compact(all)
}
