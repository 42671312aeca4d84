package openai

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/internal/toolargs"
	"github.com/turnstone-dev/turnstone/llm"
)

// What is sent to /chat/completions. What grows with a conversation stands last.
type (
	completion struct {
		Model         string         `json:"model"`
		Stream        bool           `json:"stream"`
		StreamOptions *streamOptions `json:"stream_options,omitempty"`
		MaxCompletion int            `json:"max_completion_tokens,omitempty"`
		MaxTokens     int            `json:"max_tokens,omitempty"`
		Temperature   *float64       `json:"temperature,omitempty"`
		Format        *format        `json:"response_format,omitempty"`
		Tools         []tool         `json:"tools,omitempty"`
		Messages      []message      `json:"messages"`
	}
	streamOptions struct {
		Usage bool `json:"include_usage"`
	}
	format struct {
		Type string `json:"type"`
	}
	tool struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	function struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	message struct {
		Role    llm.Role `json:"role"`
		CallID  string   `json:"tool_call_id,omitempty"`
		Content any      `json:"content"` // text, parts or null
		Calls   []call   `json:"tool_calls,omitempty"`
	}
	part struct {
		Type  string   `json:"type"`
		Text  string   `json:"text,omitempty"`
		Image *picture `json:"image_url,omitempty"`
	}
	picture struct {
		URL string `json:"url"`
	}
	call struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function called `json:"function"`
	}
	called struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
)

var pictures = []string{"image/jpeg", "image/png", "image/gif", "image/webp"}

// body is the request as a server of that dialect reads it.
func (m *Model) body(r *llm.Request, d dialect) ([]byte, error) {
	c := completion{Model: m.name, Stream: true, Temperature: r.Temperature}
	if d.usage {
		c.StreamOptions = &streamOptions{Usage: true}
	}
	if limit := max(r.MaxTokens, 0); d.limit == MaxTokens {
		c.MaxTokens = limit
	} else {
		c.MaxCompletion = limit
	}
	if r.JSON {
		c.Format = &format{"json_object"}
	}
	for _, t := range r.Tools {
		schema, err := toolargs.AppendSchema(nil, t.Schema)
		if err != nil {
			return nil, fmt.Errorf("request to %s: tool %s: %w", m.name, t.Name, err)
		}
		c.Tools = append(c.Tools, tool{"function", function{t.Name, t.Description, schema}})
	}
	c.Messages = make([]message, len(r.Messages))
	for i := range r.Messages {
		c.Messages[i] = newMessage(&r.Messages[i], d)
	}
	body, err := strictjson.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("request to %s: %w", m.name, err)
	}
	return body, nil
}

func newMessage(m *llm.Message, d dialect) message {
	id := func(id string) string {
		if d.short {
			return shortID(id)
		}
		return id
	}
	sent := message{Role: m.Role, Content: m.Text}
	switch {
	case len(m.Images) > 0:
		sent.Content = parts(m)
	case m.Text == "" && len(m.Calls) > 0:
		sent.Content = nil
	}
	for _, c := range m.Calls {
		sent.Calls = append(sent.Calls, call{id(c.ID), "function", called{named(c.Name), string(toolargs.Append(nil, c.Arguments))}})
	}
	if m.Role == llm.ToolResult {
		sent.CallID = id(m.CallID)
	}
	return sent
}

// maxName and the characters below are what OpenAI takes of a tool's name.
const maxName = 64

// named is the name of a tool that was called, as every server takes it. Of what a model made up some would refuse the
// request, and every later one in the conversation.
func named(tool string) string {
	plain := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, tool)
	return plain[:min(len(plain), maxName)]
}

func parts(m *llm.Message) []part {
	var all []part
	if m.Text != "" {
		all = append(all, part{Type: "text", Text: m.Text})
	}
	for _, image := range m.Images {
		if !slices.Contains(pictures, image.MediaType) || len(image.Data) == 0 {
			all = append(all, part{Type: "text", Text: image.InWords()})
			continue
		}
		data := "data:" + image.MediaType + ";base64," + base64.StdEncoding.EncodeToString(image.Data)
		all = append(all, part{Type: "image_url", Image: &picture{data}})
	}
	return all
}
