package openai

import (
	"crypto/rand"
	"encoding/json"

	"github.com/turnstone-dev/turnstone/llm"
)

// delta is a piece of a tool call.
type delta struct {
	Index    *int
	ID       string
	Function struct {
		Name      string
		Arguments json.RawMessage
	}
}

// assembly puts tool calls together. Pieces belong to the call of their index. Some servers give every call the
// index 0, or none: there an id that is new begins a new call.
type assembly struct {
	calls []llm.Call
	at    map[int]int // the call that has an index now
}

func (a *assembly) add(d *delta) {
	if a.at == nil {
		a.at = map[int]int{}
	}
	index := 0
	if d.Index != nil {
		index = *d.Index
	}
	at, known := a.at[index]
	if !known || d.ID != "" && a.calls[at].ID != "" && a.calls[at].ID != d.ID {
		at = len(a.calls)
		a.calls = append(a.calls, llm.Call{})
		a.at[index] = at
	}
	c := &a.calls[at]
	if c.ID == "" {
		c.ID = d.ID
	}
	if c.Name == "" {
		c.Name = d.Function.Name
	}
	c.Arguments += arguments(d.Function.Arguments)
}

// arguments are a piece of a text that will be JSON or, from some servers, the JSON itself.
func arguments(raw json.RawMessage) string {
	var text *string
	switch {
	case len(raw) == 0:
		return ""
	case json.Unmarshal(raw, &text) != nil:
		return string(raw)
	}
	return word(text)
}

// complete returns the calls, each with an id of its own.
func (a *assembly) complete() []llm.Call {
	ids := make(map[string]bool, len(a.calls))
	for i := range a.calls {
		if id := a.calls[i].ID; id == "" || ids[id] {
			a.calls[i].ID = "call_" + rand.Text()
		}
		ids[a.calls[i].ID] = true
	}
	return a.calls
}
