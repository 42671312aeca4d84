package history

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/turn"
)

// documentVersion is the version of the members that are ours.
const documentVersion = 1

// session writes the session document: the messages in a first pass over the turns, the tool calls in
// a second, so that neither has to be held.
func (e *exporter) session(ctx context.Context) error {
	h := &e.header
	b := []byte("{\n")
	b = appendText(b, `"sessionId":`, h.Session)
	b = appendTime(b, ",\n\"startTime\":", h.Started)
	b = appendTime(b, ",\n\"lastActivity\":", h.LastActivity)
	b = appendText(b, ",\n\"model\":", h.Model)
	b = appendText(b, ",\n\"provider\":", h.Provider)
	b = append(b, ",\n\"turnstone\":"+strconv.Itoa(documentVersion)...)
	for _, m := range []struct{ name, value string }{{"title", h.Title}, {"user", h.User}} {
		if m.value != "" {
			b = appendText(b, ",\n\""+m.name+"\":", m.value)
		}
	}
	e.write(string(b), ",\n\"messages\":[")
	separator := "\n"
	err := e.each(ctx, func(t turn.Turn) error {
		content, err := e.hydrate(ctx, t)
		if err != nil {
			return err
		}
		e.write(separator, string(appendSessionMessage(nil, t, content)))
		separator = ",\n"
		return nil
	})
	if err != nil {
		return err
	}
	if err := e.sessionCalls(ctx); err != nil {
		return err
	}
	b = append(b[:0], "\n],\n\"metadata\":{\"tokenCount\":"...)
	b = strconv.AppendInt(b, h.Tokens, 10)
	b = append(b, `,"compressionCount":`...)
	b = strconv.AppendInt(b, int64(h.Compressions), 10)
	e.write(string(b), "}\n}\n")
	return nil
}

// errChanged says that a second pass over the turns gave others than the first.
var errChanged = errors.New("the turns changed between two passes; give a sequence that can be ranged over twice")

// sessionCalls writes each call with its result when that is met, and those without one at the end.
func (e *exporter) sessionCalls(ctx context.Context) error {
	type call struct {
		turn.ToolCall
		at time.Time
	}
	var open []call
	separator := "\n"
	entry := func(c call, result turn.Content) {
		b := appendText(append([]byte(separator), '{'), `"id":`, c.ID)
		b = appendText(b, `,"name":`, c.Name)
		b = append(append(b, `,"args":`...), c.Arguments...)
		if r, ok := result.(turn.Result); ok {
			b = appendText(b, `,"result":{"llmContent":`, resultText(r.Result))
			b = append(b, '}')
		} else {
			b = append(b, `,"result":null`...)
		}
		e.write(string(append(appendTime(b, `,"timestamp":`, c.at), '}')))
		separator = ",\n"
	}
	e.write("\n],\n\"toolCalls\":[")
	turns := e.report.Turns
	err := e.each(ctx, func(t turn.Turn) error {
		for _, c := range t.Calls() {
			open = append(open, call{c, t.CreatedAt})
		}
		if r, ok := t.Content.(turn.Result); ok {
			i := slices.IndexFunc(open, func(c call) bool { return c.ID == r.CallID })
			if i >= 0 {
				entry(open[i], r)
				open = slices.Delete(open, i, i+1)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if e.report.Turns != 2*turns {
		return errChanged
	}
	e.report.Turns = turns
	for _, c := range open {
		entry(c, nil)
	}
	return nil
}

// appendSessionMessage appends a turn as a message: what others read first, what is ours last.
func appendSessionMessage(b []byte, t turn.Turn, content turn.Content) []byte {
	role, kind, text := string(t.Role), "text", ""
	plain := false
	switch c := content.(type) {
	case turn.Text:
		text, plain = c.Text, c.Thinking == "" && len(c.ToolCalls) == 0
	case turn.Speech:
		text = c.Transcript
	case turn.Image:
		kind, text = "image", c.Alt
	case turn.Action:
		text = actionText(c)
	case turn.Result:
		role, text = "tool", resultText(c.Result)
	case turn.Forgotten:
		text, plain = turn.ForgottenText, true
	}
	if t.Role == turn.Agent {
		role = "assistant"
	}
	b = appendText(b, `{"role":`, role)
	b = append(b, `,"parts":[`...)
	if text != "" || kind == "image" {
		b = appendText(b, `{"type":`, kind)
		b = append(appendText(b, `,"text":`, text), '}')
	}
	b = appendTime(b, `],"timestamp":`, t.CreatedAt)
	b = appendText(b, `,"turnstone":{"turn_id":`, t.ID)
	b = strconv.AppendInt(append(b, `,"seq":`...), t.Seq, 10)
	b = appendText(b, `,"form":`, string(t.Form))
	if t.Kind != turn.KindTurn {
		b = appendText(b, `,"kind":`, string(t.Kind))
	}
	if t.MessageID != "" {
		b = appendText(b, `,"message_id":`, t.MessageID)
	}
	if t.IdempotencyKey != "" {
		b = appendText(b, `,"idempotency_key":`, t.IdempotencyKey)
	}
	if t.Covers != (turn.Range{}) {
		b = strconv.AppendInt(append(b, `,"covers":[`...), t.Covers.From, 10)
		b = strconv.AppendInt(append(b, ','), t.Covers.To, 10)
		b = append(b, ']')
	}
	if t.Meta != (turn.Meta{}) {
		b = t.Meta.AppendJSON(append(b, `,"meta":`...))
	}
	if !plain {
		b = turn.AppendContent(append(b, `,"content":`...), content)
	}
	return append(b, "}}"...)
}

// appendText appends a string member; what stands before the value is written as given.
func appendText(b []byte, before, value string) []byte {
	return strictjson.AppendString(append(b, before...), value)
}

// appendTime appends a time, null where there is none.
func appendTime(b []byte, before string, t time.Time) []byte {
	b = append(b, before...)
	if t.IsZero() {
		return append(b, "null"...)
	}
	return strictjson.AppendTime(b, t)
}
