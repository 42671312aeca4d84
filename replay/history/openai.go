package history

import (
	"context"
	"encoding/base64"

	"github.com/turnstone-dev/turnstone/turn"
)

// openAI writes the messages of chat completions as one array, a message a line.
func (e *exporter) openAI(ctx context.Context) error {
	e.headerLost("session", e.header.Session, "title", e.header.Title, "model", e.header.Model, "provider", e.header.Provider, "user", e.header.User,
		"times", e.header.times(), "compressions", count(int64(e.header.Compressions)), "tokens", count(e.header.Tokens))
	separator := "[\n"
	write := func(message []byte) {
		e.write(separator, string(message))
		separator = ",\n"
	}
	err := e.units(ctx, func(u *unit) error {
		message, err := e.openAIMessage(ctx, u)
		if err != nil {
			return err
		}
		write(message)
		for _, c := range u.calls() {
			r := e.result(u, c)
			if r.Status != turn.CallOK {
				e.lose(u.turns[0], "how calls ended", "left out")
			}
			b := appendText(nil, `{"role":"tool","tool_call_id":`, c.ID)
			b = appendText(b, `,"content":`, outcomeText(r))
			write(append(b, '}'))
		}
		return nil
	})
	if err != nil {
		return err
	}
	e.anonymous()
	if e.report.Turns == 0 {
		e.write("[")
	}
	e.write("\n]\n")
	return nil
}

// openAIMessage is one message: its content is a string where it is one text, null where there is
// none, and otherwise a list of parts.
func (e *exporter) openAIMessage(ctx context.Context, u *unit) ([]byte, error) {
	b := appendText(nil, `{"role":`, wireRole(u.turns[0].Role))
	b = append(b, `,"content":`...)
	var parts []piece
	for _, t := range u.turns {
		if c, ok := t.Content.(turn.Text); ok && c.Thinking != "" {
			e.lose(t, "thoughts", "left out")
		}
		p, err := e.project(ctx, t)
		if err != nil {
			return nil, err
		}
		if p.image != nil || p.text != "" {
			parts = append(parts, p)
		}
	}
	switch {
	case len(parts) == 0:
		b = append(b, "null"...)
	case len(parts) == 1 && parts[0].image == nil:
		b = appendText(b, "", parts[0].text)
	default:
		b = appendOpenAIParts(b, parts)
	}
	separator := `,"tool_calls":[`
	for _, c := range u.calls() {
		b = appendText(append(b, separator...), `{"id":`, c.ID)
		b = appendText(b, `,"type":"function","function":{"name":`, c.Name)
		b = append(appendText(b, `,"arguments":`, c.Arguments), "}}"...)
		separator = ","
	}
	if separator == "," {
		b = append(b, ']')
	}
	return append(b, '}'), nil
}

func appendOpenAIParts(b []byte, parts []piece) []byte {
	separator := "["
	for _, p := range parts {
		b = append(b, separator...)
		if p.image == nil {
			b = append(appendText(b, `{"type":"text","text":`, p.text), '}')
		} else {
			b = appendText(b, `{"type":"image_url","image_url":{"url":`, "data:"+p.image.MediaType+";base64,")
			b = base64.StdEncoding.AppendEncode(b[:len(b)-1], p.image.Data)
			b = append(b, `"}}`...)
		}
		separator = ","
	}
	return append(b, ']')
}

// wireRole is the role's name in the formats of providers.
func wireRole(r turn.Role) string {
	if r == turn.Agent {
		return "assistant"
	}
	return string(r)
}
