package llm

import (
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/internal/toolargs"
)

// FieldError says which field of a request is wrong and what to do.
type FieldError = invalid.Field

const maxToolName = 64

// Check says, with a *[FieldError], what no server would accept. Every model checks its requests by it.
func (r *Request) Check() error {
	if len(r.Messages) == 0 {
		return invalid.New("messages", "there are none", "ask something")
	}
	names := make(map[string]bool, len(r.Tools))
	for i := range r.Tools {
		if err := r.Tools[i].check(names); err != nil {
			return record.Within(record.Indexed("tools", i), err)
		}
	}
	open := map[string]bool{}
	for i := range r.Messages {
		if err := r.Messages[i].check(open); err != nil {
			return record.Within(record.Indexed("messages", i), err)
		}
	}
	for id := range open {
		return invalid.New("messages", fmt.Sprintf("end before the result of call %.80q", id), "add its result")
	}
	return nil
}

func (t *Tool) check(names map[string]bool) error {
	switch {
	case t.Name == "" || len(t.Name) > maxToolName || strings.ContainsFunc(t.Name, notPlain):
		return invalid.New("name", fmt.Sprintf("%.80q is no name of a tool", t.Name), "use 1 to 64 letters, digits, underscores and hyphens")
	case names[t.Name]:
		return invalid.New("name", fmt.Sprintf("%q stands twice", t.Name), "define each tool once")
	}
	names[t.Name] = true
	if _, err := toolargs.AppendSchema(nil, t.Schema); err != nil {
		return record.Within("schema", err)
	}
	return nil
}

func notPlain(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
}

// check checks a message where open are the calls that have no result yet, and keeps them up to date.
func (m *Message) check(open map[string]bool) error {
	switch m.Role {
	case System, User, Assistant, ToolResult:
	default:
		return invalid.New("role", fmt.Sprintf("%.40q is not a role", string(m.Role)), "use system, user, assistant or tool")
	}
	switch {
	case m.Role == ToolResult && !open[m.CallID]:
		return invalid.New("call_id", fmt.Sprintf("%.80q is no call that waits for a result", m.CallID), "put results right after their calls, one for each")
	case m.Role != ToolResult && len(open) > 0:
		return invalid.New("", "stands where the result of a call belongs", "put results right after their calls, one for each")
	case m.Role != Assistant && len(m.Calls) > 0:
		return invalid.New("calls", fmt.Sprintf("are made by %q", string(m.Role)), "only the assistant calls tools")
	case m.Role != User && len(m.Images) > 0:
		return invalid.New("images", fmt.Sprintf("are shown by %q", string(m.Role)), "only the user shows images")
	}
	delete(open, m.CallID)
	for i := range m.Calls {
		c := &m.Calls[i]
		switch {
		case c.ID == "" || open[c.ID]:
			return invalid.New(record.Indexed("calls", i)+".id", fmt.Sprintf("%.80q is empty or another call's", c.ID), "give each call an id of its own")
		case c.Name == "":
			return invalid.New(record.Indexed("calls", i)+".name", "is empty", "name the tool")
		}
		open[c.ID] = true
	}
	return nil
}
