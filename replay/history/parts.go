package history

import (
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/turn"
)

// eachPart calls f for each part of the content, which may be a text, null, or a list of parts.
func (m *message) eachPart(content strictjson.Raw, f func(part) error) error {
	switch content.Kind() {
	case strictjson.KindInvalid, strictjson.KindNull:
		return nil
	case strictjson.KindString:
		text, err := m.text(m.place, content)
		if err != nil || text == "" {
			return located(m.place, err)
		}
		return f(part{kind: "text", text: text})
	case strictjson.KindArray:
	default:
		return invalid.New(m.place.String()+": content", "expected a string or an array, found "+content.Kind().String(), "correct the value")
	}
	return located(m.place, content.Array(func(v strictjson.Raw) error {
		p, err := m.part(v)
		if err != nil {
			return invalid.New(m.place.String()+": content", err.Error(), "correct the value")
		}
		return f(p)
	}))
}

// parts makes turns of what a user or the system wrote.
func (m *message) parts(role turn.Role) error {
	return m.eachPart(m.content, func(p part) error {
		switch p.kind {
		case "text", "input_text", "output_text":
			m.add(role, p.text)
		case "image_url", "input_image", "image":
			m.image(p, role)
		case "input_audio":
			m.recording(p, role)
		case "tool_result":
			return m.toolResult(outcome{id: p.callID, status: status(p.failed)}, p.content)
		case "refusal":
			m.add(role, m.refused(p.text))
		default:
			m.add(role, m.unknown(p.kind))
		}
		return nil
	})
}

// add adds a text, unless it is empty.
func (m *message) add(role turn.Role, text string) {
	if text != "" {
		m.turns = append(m.turns, found{role: role, content: turn.Text{Text: text}})
	}
}

// refused is a refusal as text.
func (m *message) refused(text string) string {
	m.report.lose("refusals", m.place, "kept as texts")
	return text
}

// unknown is the text in the place of a part that nobody knows.
func (m *message) unknown(kind string) string {
	m.report.lose("parts of an unknown type", m.place, fmt.Sprintf("replaced by a text that says so, the first was %.60q", kind))
	return fmt.Sprintf("[%.60s left out]", kind)
}

// toolResult adds a result with what the tool said.
func (m *message) toolResult(o outcome, content strictjson.Raw) error {
	m.turns = append(m.turns, found{result: &o})
	switch content.Kind() {
	case strictjson.KindInvalid, strictjson.KindNull:
		return nil
	case strictjson.KindString, strictjson.KindArray:
	default:
		o.result = string(content)
		return nil
	}
	if content.Kind() == strictjson.KindArray && !typed(content) {
		o.result = string(content)
		return nil
	}
	var texts []string
	err := m.eachPart(content, func(p part) error {
		switch p.kind {
		case "text", "input_text", "output_text":
			texts = append(texts, p.text)
		case "image", "image_url", "input_image":
			m.image(p, turn.System)
		default:
			texts = append(texts, m.unknown(p.kind))
		}
		return nil
	})
	if len(texts) > 1 {
		m.report.lose("results of several texts", m.place, "joined by line feeds")
	}
	o.result = rawJSON(m.clean(m.place, strings.Join(texts, "\n")))
	return err
}

// typed reports whether all elements of a list say what they are: then they are parts, and otherwise
// the list is what the tool gave.
func typed(list strictjson.Raw) bool {
	all := true
	err := list.Array(func(v strictjson.Raw) error {
		named := false
		err := v.Object(func(name string, _ strictjson.Raw) error {
			named = named || name == "type"
			return nil
		})
		all = all && named
		return err
	})
	return all && err == nil
}

// spoken makes turns of what the agent said: a turn ends where text or thought follows on text or
// calls.
func (m *message) spoken() error {
	texts := []turn.Text{{Thinking: m.thinking}}
	last := func() *turn.Text { return &texts[len(texts)-1] }
	next := func(full bool) *turn.Text {
		if full || len(last().ToolCalls) > 0 {
			texts = append(texts, turn.Text{})
		}
		return last()
	}
	err := m.eachPart(m.content, func(p part) error {
		switch p.kind {
		case "text", "output_text", "input_text":
			if p.text != "" {
				next(last().Text != "").Text = p.text
			}
		case "thinking":
			if p.signature {
				m.report.lose("signatures of thoughts", m.place, "left out")
			}
			if t := next(last().Text != ""); t.Thinking != "" {
				t.Thinking += "\n\n" + p.text
			} else {
				t.Thinking = p.text
			}
		case "tool_use":
			last().ToolCalls = append(last().ToolCalls, p.call)
		case "refusal":
			next(last().Text != "").Text = m.refused(p.text)
		default:
			next(last().Text != "").Text = m.unknown(p.kind)
		}
		return nil
	})
	if m.refusal != "" {
		next(last().Text != "").Text = m.refused(m.refusal)
	}
	last().ToolCalls = append(last().ToolCalls, m.calls...)
	for _, t := range texts {
		if t.Text == "" && t.Thinking == "" && len(t.ToolCalls) == 0 {
			continue
		}
		if t.Text == "" && len(t.ToolCalls) == 0 {
			m.report.lose("thoughts without a reply", m.place, "kept with a text that says so")
			t.Text = "[no reply]"
		}
		m.split(t)
	}
	return err
}

// split adds what the agent said as turns that hold no more calls each than a turn may.
func (m *message) split(t turn.Text) {
	limit := m.options.Limits.Calls
	for len(t.ToolCalls) > limit {
		first := t
		first.ToolCalls = t.ToolCalls[:limit]
		m.turns = append(m.turns, found{role: turn.Agent, content: first})
		t = turn.Text{ToolCalls: t.ToolCalls[limit:]}
	}
	m.turns = append(m.turns, found{role: turn.Agent, content: t})
}
