package wire

import (
	"strings"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/internal/toolargs"
	"github.com/turnstone-dev/turnstone/prompt"
)

const (
	functionStart = `{"type":"function","function":`
	functionEnd   = `}`
)

// functions appends "tools" as OpenAI and Ollama have them, nothing where there are none.
func (w *writer) functions(tools []prompt.Definition) error {
	return w.tools(tools, functionStart, "parameters", functionEnd)
}

// tools appends "tools" with start and end around each definition.
func (w *writer) tools(tools []prompt.Definition, start, schema, end string) error {
	if len(tools) == 0 {
		return nil
	}
	w.raw(`,"tools":[`)
	for i := range tools {
		d := &tools[i]
		w.comma()
		w.raw(start + `{"name":`)
		w.str(ToolName(d.Name))
		if !blank(d.Description) {
			w.raw(`,"description":`)
			w.str(d.Description)
		}
		w.raw(`,"` + schema + `":`)
		if err := w.schema(d.Schema); err != nil {
			return record.Within(record.Indexed("tools", i)+".schema", err)
		}
		w.raw("}" + end)
	}
	w.raw("]")
	return nil
}

// schema appends a schema of type object: as it is, with that type and no properties put in where they are
// not said, which some servers insist on.
func (w *writer) schema(raw string) error {
	if raw = strings.Trim(raw, " \t\r\n"); raw == "" {
		raw = "{}"
	}
	const fix = `give a JSON Schema of type "object"`
	if !toolargs.Parsable(raw) {
		return invalid.New("", "is not JSON that every provider can read", fix)
	}
	members, typed, properties := 0, false, false
	err := strictjson.Object(raw, func(name string, v strictjson.Raw) error {
		members++
		properties = properties || name == "properties"
		if name != "type" {
			return nil
		}
		typed = true
		if is, err := v.String(); err != nil || is != "object" {
			return invalid.New("type", `is not "object"`, fix)
		}
		return nil
	})
	if err != nil {
		return err
	}
	var put []string
	if !typed {
		put = append(put, `"type":"object"`)
	}
	if !properties {
		put = append(put, `"properties":{}`)
	}
	if members > 0 {
		put = append(put, "")
	}
	w.raw("{" + strings.Join(put, ",") + raw[1:])
	return nil
}
