package prompt

import (
	"slices"

	"github.com/turnstone-dev/turnstone/turn"
)

// Forgetting returns the epoch that follows one when turns of its session are forgotten, after the session's last turn:
// it shows what the one before showed, with tombstones in their place, and quotes nothing of them. With whole, all of
// the session was forgotten, and it begins anew behind that.
func (e Epoch) Forgetting(head int64, whole bool, gone func(seq int64) bool) Epoch {
	e.Number++
	e.AfterSeq, e.Reason = head, ReasonForgot
	e.Quotes = slices.DeleteFunc(slices.Clone(e.Quotes), func(q Quote) bool { return gone(q.Turn) })
	if whole {
		e.Path, e.From = []turn.Range{{From: head + 1}}, head+1
		e.Kept, e.Checkpoints, e.Paged, e.Quotes, e.Unquoted, e.Goal = nil, nil, nil, nil, nil, nil
		e.Hold, e.Before = false, 0
	}
	return e
}
