package simulate

import (
	"strings"

	"github.com/turnstone-dev/turnstone/prompt"
)

// written writes messages one after another, the same way whoever made them: adding messages at the end only adds
// text at the end.
func written(messages []prompt.Message) string {
	var b strings.Builder
	for i := range messages {
		b.WriteString(textOf(&messages[i]))
	}
	return b.String()
}

func textOf(m *prompt.Message) string {
	var b strings.Builder
	b.WriteString("[" + string(m.Role))
	if m.Name != "" {
		b.WriteString(" " + m.Name)
	}
	if m.CallID != "" {
		b.WriteString(" " + m.CallID)
	}
	b.WriteString("]\n")
	for _, p := range m.Parts {
		if p.Image != nil {
			b.WriteString("(image: " + p.Image.Alt + ")\n")
			continue
		}
		b.WriteString(p.Text + "\n")
	}
	for _, c := range m.Calls {
		b.WriteString("CALL " + c.ID + " " + c.Name + " " + c.Arguments + "\n")
	}
	b.WriteString("\n")
	return b.String()
}
