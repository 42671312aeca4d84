package history

import (
	"strings"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/turn"
)

// named is a member of an object.
type named struct {
	name  string
	value strictjson.Raw
}

// keep sets a text that several members may give. Of two that differ, the second has no place.
func (m *message) keep(dst *string, name string, v strictjson.Raw) {
	switch text := m.word(m.place, name, v); {
	case text == "" || text == *dst:
	case *dst == "":
		*dst = text
	default:
		m.other(m.place, name, v)
	}
}

// given sets what a call was given. What is called input and is a text is no JSON, whatever it spells.
func (m *message) given(call *turn.ToolCall, name string, v strictjson.Raw) {
	switch {
	case v.IsNull():
	case call.Arguments != "":
		m.other(m.place, name, v)
	case name == "input" && v.Kind() == strictjson.KindString:
		call.Arguments = quoted(m.scalar(m.place, v))
	default:
		call.Arguments = m.arguments(m.place, v)
	}
}

func (m *message) flag(name string, v strictjson.Raw) bool {
	if v.Kind() != strictjson.KindBool {
		m.other(m.place, name, v)
	}
	return v == "true"
}

// think adds a thought, unless it is there: some write one under several names.
func (m *message) think(text string) {
	switch {
	case text == "" || text == m.thinking:
	case m.thinking == "":
		m.thinking = text
	default:
		m.thinking += "\n\n" + text
	}
}

// timed sets when the message was written. Of two times that differ, the second has no place.
func (m *message) timed(name string, v strictjson.Raw) {
	at := m.sink.at(m.place, v)
	switch {
	case at.IsZero() || at.Equal(m.at):
	case m.at.IsZero():
		m.at = at
	default:
		m.other(m.place, name, v)
	}
}

// holdContent takes the content, which some write twice, as a text and as parts. Of two that say the same the
// parts are kept, and otherwise the first.
func (m *message) holdContent(name string, v strictjson.Raw) {
	switch {
	case blank(m.content) && (!blank(v) || m.content == ""):
		m.content = v
	case blank(v):
	case m.content.Kind() != v.Kind() && spelled(m.content) == spelled(v):
		if v.Kind() == strictjson.KindArray {
			m.content = v
		}
	default:
		m.report.lose("contents beside another", m.place, "left out, as the first is kept")
	}
}

func blank(v strictjson.Raw) bool { return v == "" || v.IsNull() || v == `""` || v == "[]" }

// spelled is the text of a content, in one string or in parts.
func spelled(content strictjson.Raw) string {
	if text, err := content.String(); err == nil {
		return text
	}
	var text strings.Builder
	err := content.Array(func(v strictjson.Raw) error {
		return v.Object(func(name string, v strictjson.Raw) error {
			if name != "text" {
				return nil
			}
			piece, err := v.String()
			text.WriteString(piece)
			return err
		})
	})
	if err != nil {
		return string(content)
	}
	return text.String()
}
