package history

import (
	"context"

	"github.com/turnstone-dev/turnstone/turn"
)

// unit is a message, of one or more turns that are its parts, and the results of its calls.
type unit struct {
	turns   []turn.Turn
	results map[string]turn.Turn // by the id of the call
	open    int                  // calls without a result
}

// calls returns the calls of the message in order.
func (u *unit) calls() []turn.ToolCall {
	var calls []turn.ToolCall
	for i := range u.turns {
		calls = append(calls, u.turns[i].Calls()...)
	}
	return calls
}

// result is the outcome of a call. A call that has none is shown as cancelled, and that is reported.
func (e *exporter) result(u *unit, c turn.ToolCall) turn.Result {
	if t, ok := u.results[c.ID]; ok {
		// What is kept under the id of a call is a result.
		return t.Content.(turn.Result)
	}
	e.lose(u.turns[0], "calls without a result", "closed as cancelled")
	return turn.Result{Name: c.Name, CallID: c.ID, Status: turn.CallCancelled, Synthetic: true}
}

// units groups turns into messages and hands them to f in order, each once its calls have results or
// there are no more turns.
func (e *exporter) units(ctx context.Context, f func(*unit) error) error {
	var waiting []*unit
	open := map[string]*unit{}
	var last *unit // what the turn before belongs to, if it may go on
	flush := func(all bool) error {
		for len(waiting) > 0 && (all || waiting[0].open == 0 && waiting[0] != last) {
			if err := f(waiting[0]); err != nil {
				return err
			}
			waiting = waiting[1:]
		}
		return nil
	}
	err := e.each(ctx, func(t turn.Turn) error {
		if r, ok := t.Content.(turn.Result); ok {
			last = nil
			if u := open[r.CallID]; u != nil {
				delete(open, r.CallID)
				u.results[r.CallID] = t
				u.open--
				if u != waiting[len(waiting)-1] {
					e.lose(t, "results that came behind other turns", "written right behind their calls")
				}
				return flush(false)
			}
		}
		if last != nil && last.takes(t) {
			last.turns = append(last.turns, t)
		} else {
			last = &unit{turns: []turn.Turn{t}, results: map[string]turn.Turn{}}
			waiting = append(waiting, last)
		}
		for _, c := range t.Calls() {
			open[c.ID] = last
			last.open++
		}
		return flush(false)
	})
	if err != nil {
		return err
	}
	return flush(true)
}

// takes reports whether the turn is a further part of the message.
func (u *unit) takes(t turn.Turn) bool {
	return t.MessageID != "" && t.MessageID == u.turns[0].MessageID && t.Role == u.turns[0].Role
}
