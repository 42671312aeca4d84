package wire

import (
	"fmt"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/prompt"
)

// check refuses requests that no list can be made of.
func check(f Format, r *Request) error {
	if f != Ollama && f != OpenAI && f != Anthropic && f != Text {
		return invalid.New("format", fmt.Sprintf("%.40q is not a format", string(f)), "use ollama, openai, anthropic or text")
	}
	if r.Model == "" && f != Text {
		return invalid.New("model", "is empty", "name the model")
	}
	if r.Context <= 0 && f == Ollama {
		return invalid.New("context", fmt.Sprintf("is %d", r.Context), "give the usable window: Ollama would take its own")
	}
	names := make(map[string]bool, len(r.Tools))
	for i := range r.Tools {
		name := ToolName(r.Tools[i].Name)
		if names[name] {
			return invalid.New(record.Indexed("tools", i)+".name", fmt.Sprintf("%.80q stands twice", name), "define each tool once")
		}
		names[name] = true
	}
	return checkMessages(r.Messages)
}

func checkMessages(messages []prompt.Message) error {
	ids := map[string]bool{}
	var open []prompt.ToolCall
	for i := range messages {
		m := &messages[i]
		refuse := func(field, problem, fix string) error {
			return invalid.New(record.Indexed("messages", i)+field, problem, fix)
		}
		switch {
		case m.Role == prompt.Tool && len(open) == 0:
			return refuse("", "is a result that no call waits for", "put results right after their calls")
		case m.Role == prompt.Tool && m.CallID != open[0].ID:
			return refuse(".call_id", fmt.Sprintf("%.80q does not answer call %.80q", m.CallID, open[0].ID), "give results in the order of the calls")
		case m.Role != prompt.Tool && len(open) > 0:
			return refuse("", fmt.Sprintf("stands where the result of call %.80q belongs", open[0].ID), "put results right after their calls")
		case m.Role != prompt.Agent && len(m.Calls) > 0:
			return refuse(".calls", fmt.Sprintf("are made by %.40q", string(m.Role)), "only the agent calls tools")
		}
		switch m.Role {
		case prompt.Tool:
			open = open[1:]
		case prompt.Agent:
			open = m.Calls
		case prompt.System, prompt.User, prompt.Note:
		default:
			return refuse(".role", fmt.Sprintf("%.40q is not a role", string(m.Role)), "use system, user, assistant, tool or note")
		}
		for j := range m.Calls {
			id := m.Calls[j].ID
			if !plainName(id) || ids[id] {
				return refuse(record.Indexed(".calls", j)+".id", fmt.Sprintf("%.80q is not unique or not plain", id),
					"use letters, digits, underscores and hyphens, differently for each call")
			}
			ids[id] = true
		}
	}
	if len(open) > 0 {
		return invalid.New("messages", fmt.Sprintf("end before the result of call %.80q", open[0].ID), "close the call")
	}
	return nil
}
