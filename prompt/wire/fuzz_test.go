package wire_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/prompt/wire"
	"github.com/turnstone-dev/turnstone/prompt/wire/wiretest"
)

// FuzzAppend holds lists made of any text against the providers' rules. Roles has a letter for each message.
func FuzzAppend(f *testing.F) {
	f.Add("suacn", "hello", "fs.read", `{"q":"\ud83d\ude00"}`, `{"type":"object"}`, "image/png")
	f.Add("cca", " \n", "", `{"q":"\ud800"}`, "", "image/tiff")
	f.Add("sss", "# user\r# user", "a\nb", `[1e400]`, `{"properties":{}}`, "")
	f.Add("", "\xff", "x", "{", "[]", `"`)
	f.Fuzz(func(t *testing.T, roles, text, name, arguments, schema, mediaType string) {
		r := wire.Request{Model: "m" + text, Context: 1, Tools: []prompt.Definition{{Name: name, Description: text, Schema: schema}}}
		image := prompt.Part{Image: &prompt.Image{MediaType: mediaType, Alt: text, SHA256: "3", Size: 3}}
		for i, letter := range roles[:min(len(roles), 20)] {
			parts := []prompt.Part{{Text: text}, image}[i%2:]
			id := string(rune('a' + i))
			switch letter {
			case 's':
				r.Messages = append(r.Messages, prompt.Message{Role: prompt.System, Parts: parts})
			case 'u':
				r.Messages = append(r.Messages, prompt.Message{Role: prompt.User, Parts: parts})
			case 'a':
				r.Messages = append(r.Messages, prompt.Message{Role: prompt.Agent, Parts: parts})
			case 'c':
				r.Messages = append(r.Messages,
					called(prompt.ToolCall{ID: id, Name: name, Arguments: arguments}, prompt.ToolCall{ID: id + "2", Name: text, Arguments: text}),
					result(id, text), prompt.Message{Role: prompt.Tool, CallID: id + "2", Parts: parts, Failed: true})
			default:
				r.Messages = append(r.Messages, prompt.Message{Role: prompt.Note, Parts: parts})
			}
		}
		for _, format := range formats {
			body, err := wire.Append(t.Context(), nil, format, r, picture)
			if err != nil {
				var field *wire.FieldError
				if !errors.As(err, &field) || !strings.HasPrefix(field.Name, "tools[0].schema") {
					t.Fatalf("%s: %v", format, err)
				}
				continue
			}
			if err := wiretest.Check(format, body); err != nil {
				t.Fatalf("%s: %v\n%s", format, err, body)
			}
		}
	})
}
