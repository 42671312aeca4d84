package turnstone

import (
	"context"
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/prompt/wire"
)

// largeWindow is the usable window from which on a reply is not bounded by the room that is left: what a model
// can say at once is less than that.
const largeWindow = 32 << 10

// Request makes what a model is asked of a prompt. The same window is asked for each time, and a reply gets the room
// that the prompt leaves. Pictures are read from the store.
func (s *Session) Request(ctx context.Context, p *prompt.Prompt) (llm.Request, error) {
	if p == nil {
		return llm.Request{}, errNoPrompt
	}
	r := llm.Request{Conversation: s.ID(), Context: p.Window.Usable, Messages: make([]llm.Message, len(p.Messages))}
	if p.Window.Usable < largeWindow {
		r.MaxTokens = max(p.Window.Reserve, p.Window.Usable-p.Count.Upper())
	}
	for _, d := range p.Tools {
		r.Tools = append(r.Tools, llm.Tool{Name: wire.ToolName(d.Name), Description: d.Description, Schema: d.Schema})
	}
	names := make(map[string]string)
	for i := range p.Messages {
		m, err := s.message(ctx, &p.Messages[i])
		if err != nil {
			return llm.Request{}, err
		}
		for _, c := range m.Calls {
			names[c.ID] = c.Name
		}
		if m.Role == llm.ToolResult {
			m.Name = names[m.CallID]
		}
		r.Messages[i] = m
	}
	return r, nil
}

// messageRoles are what models call the roles. What the engine notes has no authority: it comes as the user's.
var messageRoles = map[prompt.Role]llm.Role{
	prompt.System: llm.System, prompt.User: llm.User, prompt.Agent: llm.Assistant, prompt.Tool: llm.ToolResult, prompt.Note: llm.User,
}

func (s *Session) message(ctx context.Context, from *prompt.Message) (llm.Message, error) {
	m := llm.Message{Role: messageRoles[from.Role], CallID: from.CallID}
	var texts []string
	for _, part := range from.Parts {
		if part.Image == nil {
			if strings.TrimSpace(part.Text) != "" {
				texts = append(texts, part.Text)
			}
			continue
		}
		image := llm.Image{MediaType: part.Image.MediaType, Alt: part.Image.Alt}
		if m.Role != llm.User {
			texts = append(texts, image.InWords())
			continue
		}
		blob, err := s.engine.Blob(ctx, part.Image.SHA256)
		if err != nil {
			return m, fmt.Errorf("picture of the prompt: %w", err)
		}
		image.Data = blob.Data
		m.Images = append(m.Images, image)
	}
	for _, c := range from.Calls {
		m.Calls = append(m.Calls, llm.Call{ID: c.ID, Name: wire.ToolName(c.Name), Arguments: c.Arguments})
	}
	m.Text = strings.Join(texts, "\n")
	if m.Text == "" && len(m.Images)+len(m.Calls) == 0 {
		m.Text = nothingSaid(from)
	}
	return m, nil
}

// nothingSaid stands where a model demands words and there are none.
func nothingSaid(m *prompt.Message) string {
	if m.Failed {
		return "(failed)"
	}
	return "(empty)"
}

// definitions are tools as a prompt has them.
func definitions(tools []llm.Tool) []prompt.Definition {
	list := make([]prompt.Definition, len(tools))
	for i, t := range tools {
		list[i] = prompt.Definition(t)
	}
	return list
}
