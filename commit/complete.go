package commit

import (
	"context"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

// complete is phase 1: it collects what the exchange consists of and has the Responder make the final
// reply, which can be sent from then on.
func (p *Pipeline) complete(ctx context.Context, r *run) {
	s := &r.situation
	collect(s)
	for _, t := range s.Tools {
		r.trace.Note(trace.Tool, t.describe())
	}
	for _, e := range s.Errors {
		r.trace.Note(trace.Failure, e)
	}
	if p.config.Responder != nil && !s.Interrupted && s.Failure == "" {
		r.made = p.respond(ctx, r)
		switch reply, err := r.made.reply, r.made.err; {
		case err != nil:
			r.wrong(PhaseComplete, "responder", err)
		case reply != "" && reply != s.Reply:
			r.appendReply(p.config.NewID(), reply)
		}
	}
	if r.exchange.Replied != nil {
		r.call("reply", func() { r.exchange.Replied(s.Reply) })
	}
}

// made is what the Responder made.
type made struct {
	reply string
	err   error
}

// respond asks the Responder, once for an exchange: what it replied was handed over.
func (p *Pipeline) respond(ctx context.Context, r *run) (m made) {
	if r.first != nil {
		return r.first.made
	}
	m.reply, m.err = cutOff(ctx, &p.background, p.config.Deadlines.Respond, func(ctx context.Context) (string, error) {
		return p.config.Responder.Respond(ctx, &r.situation)
	})
	return m
}

// collect finds out what was asked, answered and done in the turns of the exchange.
func collect(s *Situation) {
	var input []string
	calls := make(map[string]turn.ToolCall)
	for _, t := range s.Turns {
		switch c := t.Content.(type) {
		case turn.Text:
			if t.Role == turn.User {
				input = append(input, c.Text)
			}
			if t.Role == turn.Agent {
				if c.Text != "" {
					s.Reply = c.Text
				}
				for _, call := range c.ToolCalls {
					calls[call.ID] = call
					s.Tools = append(s.Tools, ToolRun{TurnID: t.ID, Name: call.Name, Arguments: call.Arguments})
				}
			}
		case turn.Speech:
			if t.Role == turn.User {
				input = append(input, c.Transcript)
			}
		case turn.Result:
			s.Tools = settle(s.Tools, calls, t.ID, c)
		}
	}
	s.Input = strings.Join(input, "\n")
}

// settle enters a result at the call it belongs to; one whose call came before the exchange stands alone.
func settle(runs []ToolRun, calls map[string]turn.ToolCall, turnID string, c turn.Result) []ToolRun {
	call, known := calls[c.CallID]
	delete(calls, c.CallID)
	for i := range runs {
		if known && runs[i].Status == "" && runs[i].Name == call.Name && runs[i].Arguments == call.Arguments {
			runs[i].TurnID, runs[i].Status, runs[i].Result = turnID, c.Status, c.Result
			return runs
		}
	}
	return append(runs, ToolRun{TurnID: turnID, Name: c.Name, Status: c.Status, Result: c.Result})
}

// describe tells of the run in a line.
func (t *ToolRun) describe() string {
	status := string(t.Status)
	if status == "" {
		status = "without result"
	}
	return t.Name + " " + status
}

func (t *ToolRun) failed() bool { return t.Status == turn.CallError }

// outcome is the result as text: the string itself where it is one, JSON otherwise.
func (t *ToolRun) outcome() string {
	if text, err := strictjson.Raw(t.Result).String(); err == nil {
		return text
	}
	return t.Result
}
