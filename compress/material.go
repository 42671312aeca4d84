package compress

import (
	"encoding/json"
	"strings"

	"github.com/turnstone-dev/turnstone/turn"
)

// material is the text of a turn whose literals matter: what was said, and what tools were given and
// returned, without their names. What is JSON is there as what it means, so that no literal has escapes in it.
func material(t *turn.Turn) string {
	switch c := t.Content.(type) {
	case turn.Result:
		return meant(c.Result)
	case turn.Text:
		text := c.Text
		for _, call := range c.ToolCalls {
			text += "\n" + meant(call.Arguments)
		}
		return text
	case turn.Action:
		c.Payload = meant(c.Payload)
		return c.Searchable()
	}
	return t.Content.Searchable()
}

// meant is JSON with its strings as the texts that they stand for, within their quotes; a single string is that text alone.
// A text that is JSON itself, as tools wrap it, is read in the same way.
func meant(doc string) string {
	if strings.HasPrefix(doc, `"`) {
		if text, ok := unquoted(doc); ok {
			return text
		}
	}
	if !strings.Contains(doc, `\`) {
		return doc
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(doc, `"`)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		end := closing(rest)
		text, ok := unquoted(`"` + rest[:end] + `"`)
		if !ok {
			text = rest[:end]
		}
		b.WriteString(`"` + text)
		// The closing quote, which is missing where the JSON was cut off.
		doc = strings.TrimPrefix(rest[end:], `"`)
		if len(doc) < len(rest[end:]) {
			b.WriteByte('"')
		}
	}
}

// closing is where a string ends whose opening quote was read.
func closing(rest string) int {
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(rest)
}

// unquoted is the text of a JSON string.
func unquoted(quoted string) (text string, ok bool) {
	if err := json.Unmarshal([]byte(quoted), &text); err != nil {
		return "", false
	}
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		if json.Valid([]byte(text)) {
			text = meant(text)
		}
	}
	return text, true
}
