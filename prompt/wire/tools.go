package wire

import (
	"github.com/turnstone-dev/turnstone/internal/record"
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
		var err error
		if w.dst, err = toolargs.AppendSchema(w.dst, d.Schema); err != nil {
			return record.Within(record.Indexed("tools", i)+".schema", err)
		}
		w.raw("}" + end)
	}
	w.raw("]")
	return nil
}
