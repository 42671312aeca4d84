package history

import (
	"slices"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/turn"
)

// part is one part or block of a message's content.
type part struct {
	kind      string
	text      string // of texts, thoughts and refusals
	media     strictjson.Raw
	call      turn.ToolCall
	callID    string
	failed    bool
	content   strictjson.Raw // of a tool result
	signature bool
}

// part reads one part, which may be a bare text.
func (m *message) part(v strictjson.Raw) (part, error) {
	var p part
	if v.Kind() == strictjson.KindString {
		p.kind, p.text = "text", m.scalar(m.place, v)
		return p, nil
	}
	var rest []named
	err := v.Object(func(name string, v strictjson.Raw) error {
		if name == "type" {
			p.kind = m.word(m.place, name, v)
			return nil
		}
		rest = append(rest, named{name, v})
		return nil
	})
	if p.kind == "" && slices.ContainsFunc(rest, func(n named) bool { return n.name == "text" }) {
		p.kind = "text"
	}
	for _, n := range rest {
		if n.name != "cache_control" {
			m.partMember(&p, n.name, n.value)
		}
	}
	if p.call.Arguments == "" {
		p.call.Arguments = "{}"
	}
	return p, err
}

// partMember reads a member of a part whose type is known. Of others nothing is read: they are reported whole.
func (m *message) partMember(p *part, name string, v strictjson.Raw) {
	switch {
	case p.is("text", "input_text", "output_text", "thinking", "refusal"):
		switch name {
		case "text", "thinking", "refusal":
			m.words(p, name, v)
			return
		case "signature":
			if p.kind == "thinking" {
				p.signature = !blank(v)
				return
			}
		}
	case p.is("image", "image_url", "input_image"):
		switch {
		case name == "detail":
			return
		case (name == "image_url" || name == "source") && p.media == "":
			p.media = v
			return
		}
	case p.is("input_audio"):
		if name == "input_audio" {
			p.media = v
			return
		}
	case p.is("tool_use"):
		switch name {
		case "id":
			m.keep(&p.call.ID, name, v)
			return
		case "name":
			m.keep(&p.call.Name, name, v)
			return
		case "input":
			p.call.Arguments = m.arguments(m.place, v)
			return
		}
	case p.is("tool_result"):
		switch name {
		case "tool_use_id":
			m.keep(&p.callID, name, v)
			return
		case "is_error":
			p.failed = m.flag(name, v)
			return
		case "content":
			p.content = v
			return
		}
	default:
		return
	}
	m.other(m.place, name, v)
}

func (p *part) is(kinds ...string) bool { return slices.Contains(kinds, p.kind) }

// words reads the text of a part, which some put into an object with what they know of it.
func (m *message) words(p *part, name string, v strictjson.Raw) {
	switch v.Kind() {
	case strictjson.KindObject, strictjson.KindArray:
	default:
		m.keep(&p.text, name, v)
		return
	}
	var value strictjson.Raw
	var rest []named
	err := v.Object(func(name string, v strictjson.Raw) error {
		if name == "value" {
			value = v
		} else {
			rest = append(rest, named{name, v})
		}
		return nil
	})
	if err != nil || value.Kind() != strictjson.KindString {
		m.report.lose("texts that are no strings", m.place, "replaced by a text that says so")
		p.text = "[" + p.kind + " left out: it is no string]"
		return
	}
	m.keep(&p.text, name, value)
	for _, n := range rest {
		m.other(m.place, name+"."+n.name, n.value)
	}
}
