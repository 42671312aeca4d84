package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/prompt"
)

// noArguments is the schema of a tool that takes none.
const noArguments = `{"type":"object","properties":{}}`

const toolsNext = `give a list such as [{"name":"search","description":"Find pages","schema":{"type":"object"}}]`

// parseTools reads a list of tools, or an object with one under "tools": of OpenAI's form, of Anthropic's, or
// of ours. What a tool says beside its name, description and schema is named in a note.
func (a *app) parseTools(text string) ([]prompt.Definition, error) {
	var list []map[string]json.RawMessage
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		var doc struct{ Tools *[]map[string]json.RawMessage }
		if err := json.Unmarshal([]byte(text), &doc); err != nil {
			return nil, toolsError(text, err)
		}
		if doc.Tools == nil {
			return nil, usage(toolsNext, `"tools" is missing`)
		}
		list = *doc.Tools
	} else if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, toolsError(text, err)
	}
	var tools []prompt.Definition
	left := map[string]bool{}
	for i, members := range list {
		d, err := tool(members, left)
		if err != nil {
			return nil, usage(toolsNext, "tool %d: %v", i+1, err)
		}
		tools = append(tools, d)
	}
	if len(left) > 0 {
		a.note("tools: not used: %s", strings.Join(slices.Sorted(maps.Keys(left)), ", "))
	}
	return tools, nil
}

// toolsError says in which line of the text it is wrong.
func toolsError(text string, err error) error {
	offset := int64(0)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &kind):
		offset = kind.Offset
	}
	line := 1 + strings.Count(text[:min(int(offset), len(text))], "\n")
	return usage(toolsNext, "line %d: %v", line, err)
}

// tool reads one tool and notes the names of members that have no place.
func tool(members map[string]json.RawMessage, left map[string]bool) (prompt.Definition, error) {
	d := prompt.Definition{Schema: noArguments}
	_, wrapped := members["function"]
	described := ""
	// In their order, so that the same file means the same always.
	for _, name := range slices.Sorted(maps.Keys(members)) {
		var err error
		switch {
		case name == "type", name == "function":
		case name == "name" && !wrapped:
			err = json.Unmarshal(members[name], &d.Name)
		case name == "description" && !wrapped:
			err = json.Unmarshal(members[name], &d.Description)
		case slices.Contains(schemaNames, name) && !wrapped && described == "":
			described, d.Schema = name, string(members[name])
		default:
			left[name] = true
		}
		if err != nil {
			return d, fmt.Errorf("%s: %w", name, err)
		}
	}
	if wrapped {
		var inner map[string]json.RawMessage
		if err := json.Unmarshal(members["function"], &inner); err != nil {
			return d, fmt.Errorf("function: %w", err)
		}
		return tool(inner, left)
	}
	if d.Name == "" {
		return d, errors.New("name is missing")
	}
	return d, nil
}

// schemaNames are what the schema of a tool is called: by Anthropic, by OpenAI and here.
var schemaNames = []string{"input_schema", "parameters", "schema"}
