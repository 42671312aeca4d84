package history

import (
	"context"
	"fmt"
	"time"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/turn"
)

// heldSize is what is held of a message or call beside its text, about.
const heldSize = 100

// hold keeps a message or call until all are known. What is wrong with it is reported when it is read.
func (r *sessionReader) hold(list *[]held, at place, raw strictjson.Raw) error {
	if r.bytes += len(raw) + heldSize; r.bytes > r.in.limit {
		return invalid.New(at.String(), fmt.Sprintf("the document is longer than %d bytes", r.in.limit),
			"import the messages in another format, which need not be held whole")
	}
	h := held{place: at, raw: raw}
	quiet := sink{report: &Report{}}
	err := quiet.report.decode(at, raw, func(name string, v strictjson.Raw) error {
		switch name {
		case "timestamp":
			h.at = quiet.at(at, v)
		case "turnstone":
			r.ours = true
		}
		return nil
	})
	*list = append(*list, h)
	return err
}

// heldMessages reads what was held of a document that turned out to be ours.
func (r *sessionReader) heldMessages(ctx context.Context) error {
	for _, m := range r.messages {
		if err := r.message(ctx, m.place, m.raw); err != nil {
			return err
		}
	}
	return nil
}

// merge hands out what was held: each call behind the messages that are not after it. A message
// without a time is as old as the one before it, a call without one comes at the end.
func (r *sessionReader) merge() error {
	next, now := 0, time.Time{}
	until := func(end func(held) bool) error {
		for ; next < len(r.messages); next++ {
			m := r.messages[next]
			if m.at.IsZero() {
				m.at = now
			}
			if end(m) {
				return nil
			}
			now = m.at
			if err := r.sink.message(m.place, m.raw); err != nil {
				return err
			}
		}
		return nil
	}
	for _, c := range r.calls {
		err := until(func(m held) bool { return !c.at.IsZero() && m.at.After(c.at) })
		if err != nil {
			return err
		}
		if err := r.call(c); err != nil {
			return err
		}
	}
	return until(func(held) bool { return false })
}

// call hands out a call and its result.
func (r *sessionReader) call(c held) error {
	call := turn.ToolCall{Arguments: "{}"}
	var result strictjson.Raw
	err := r.sink.report.decode(c.place, c.raw, func(name string, v strictjson.Raw) error {
		switch name {
		case "id":
			call.ID = r.sink.word(c.place, name, v)
		case "name":
			call.Name = r.sink.word(c.place, name, v)
		case "args":
			call.Arguments = r.sink.arguments(c.place, v)
		case "result":
			result = v
		case "timestamp":
			c.at = r.sink.at(c.place, v)
		default:
			r.sink.other(c.place, name, v)
		}
		return nil
	})
	if err != nil {
		return err
	}
	m := &message{sink: &r.sink, place: c.place, role: "assistant", at: c.at}
	m.turns = []found{{role: turn.Agent, content: turn.Text{ToolCalls: []turn.ToolCall{call}}}}
	if result != "" && !result.IsNull() {
		if err := m.sessionResult(call.ID, result); err != nil {
			return err
		}
	}
	return m.handOut()
}

// sessionResult adds the result of a call: what the model was shown of it, or all there is.
func (m *message) sessionResult(id string, result strictjson.Raw) error {
	if result.Kind() != strictjson.KindObject {
		return m.toolResult(outcome{id: id, status: turn.CallOK}, result)
	}
	var shown strictjson.Raw
	err := result.Object(func(name string, v strictjson.Raw) error {
		if name == "llmContent" {
			shown = v
		}
		return nil
	})
	if err != nil {
		return invalid.New(m.place.String()+": result", err.Error(), "correct the value")
	}
	if shown == "" {
		return m.toolResult(outcome{id: id, status: turn.CallOK}, result)
	}
	err = result.Object(func(name string, v strictjson.Raw) error {
		if name != "llmContent" {
			m.other(m.place, "result."+name, v)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return m.toolResult(outcome{id: id, status: turn.CallOK}, shown)
}
