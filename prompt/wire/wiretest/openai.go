package wiretest

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
)

type openAIBody struct {
	Model     string          `json:"model"`
	MaxTokens *int            `json:"max_completion_tokens"`
	Tools     []functionTool  `json:"tools"`
	Messages  []openAIMessage `json:"messages"`
}

// functionTool is a tool as OpenAI and Ollama have it.
type functionTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

type openAIMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCallID *string         `json:"tool_call_id"`
	ToolCalls  []openAICall    `json:"tool_calls"`
}

type openAICall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type openAIPart struct {
	Type  string `json:"type"`
	Text  string `json:"text"`
	Image *struct {
		URL string `json:"url"`
	} `json:"image_url"`
}

var (
	dataURL        = regexp.MustCompile(`^data:([^;,]*);base64,(.*)$`)
	openAIPictures = []string{"image/jpeg", "image/png", "image/gif", "image/webp"}
)

func checkOpenAI(data []byte) error {
	var body openAIBody
	if err := decode(data, &body); err != nil {
		return err
	}
	switch {
	case body.Model == "":
		return errors.New("no model")
	case body.MaxTokens != nil && *body.MaxTokens < 1:
		return errors.New("max_completion_tokens is not positive")
	case len(body.Messages) == 0:
		return errors.New("no messages")
	}
	if err := checkFunctions(body.Tools); err != nil {
		return err
	}
	ids, waiting := map[string]bool{}, map[string]bool{}
	for i, m := range body.Messages {
		if err := at(i, m.check(waiting)); err != nil {
			return err
		}
		for _, call := range m.ToolCalls {
			if ids[call.ID] {
				return at(i, fmt.Errorf("call id %q stands twice", call.ID))
			}
			ids[call.ID], waiting[call.ID] = true, true
			if err := at(i, call.check()); err != nil {
				return err
			}
		}
	}
	return unanswered(waiting)
}

func checkFunctions(tools []functionTool) error {
	definitions := make([]definition, len(tools))
	for i, tool := range tools {
		if tool.Type != "function" {
			return fmt.Errorf("tools[%d]: type %q", i, tool.Type)
		}
		definitions[i] = definition{tool.Function.Name, tool.Function.Parameters}
	}
	return checkTools(definitions)
}

func unanswered(waiting map[string]bool) error {
	for id := range waiting {
		return fmt.Errorf("no result for call %q", id)
	}
	return nil
}

// check holds a message against its role and the calls that wait for results.
func (m *openAIMessage) check(waiting map[string]bool) error {
	if m.Role == "tool" {
		if m.ToolCallID == nil || !waiting[*m.ToolCallID] {
			return errors.New("a result of no call that waits")
		}
		delete(waiting, *m.ToolCallID)
	} else {
		if err := unanswered(waiting); err != nil {
			return err
		}
		if m.ToolCallID != nil {
			return fmt.Errorf("tool_call_id in the role %q", m.Role)
		}
	}
	if m.ToolCalls != nil && (m.Role != "assistant" || len(m.ToolCalls) == 0) {
		return fmt.Errorf("%d tool_calls in the role %q", len(m.ToolCalls), m.Role)
	}
	switch m.Role {
	case "system", "user", "assistant", "tool":
		return m.content()
	}
	return fmt.Errorf("role %q", m.Role)
}

func (m *openAIMessage) content() error {
	if m.Content == nil || string(m.Content) == "null" {
		if m.ToolCalls == nil {
			return errors.New("no content")
		}
		return nil
	}
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		if blank(text) {
			return errors.New("blank content")
		}
		return nil
	}
	var parts []openAIPart
	if err := decode(m.Content, &parts); err != nil {
		return err
	}
	if len(parts) == 0 {
		return errors.New("no parts")
	}
	for _, p := range parts {
		if err := p.check(m.Role); err != nil {
			return err
		}
	}
	return nil
}

func (p *openAIPart) check(role string) error {
	switch {
	case p.Type == "text" && p.Image == nil:
		if blank(p.Text) {
			return errors.New("blank text")
		}
		return nil
	case p.Type == "image_url" && p.Image != nil && role == "user":
		url := dataURL.FindStringSubmatch(p.Image.URL)
		if url == nil {
			return errors.New("a picture that is not a data URL")
		}
		return checkPicture(url[1], url[2], openAIPictures)
	}
	return fmt.Errorf("a part of type %q in the role %q", p.Type, role)
}

func (c *openAICall) check() error {
	if c.ID == "" || c.Type != "function" || !plainName.MatchString(c.Function.Name) {
		return fmt.Errorf("call %q of type %q, name %q", c.ID, c.Type, c.Function.Name)
	}
	// OpenAI takes any text; the servers that speak like it parse it.
	if _, err := object([]byte(c.Function.Arguments)); err != nil {
		return fmt.Errorf("call %q: arguments: %w", c.ID, err)
	}
	return nil
}
