package ollama

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/internal/toolargs"
	"github.com/turnstone-dev/turnstone/llm"
)

// What is sent to /api/chat. What grows with a conversation stands last.
type (
	chat struct {
		Model     string    `json:"model"`
		Stream    bool      `json:"stream"`
		Truncate  bool      `json:"truncate"`
		Shift     bool      `json:"shift"`
		KeepAlive any       `json:"keep_alive,omitempty"`
		Think     any       `json:"think,omitempty"`
		Format    string    `json:"format,omitempty"`
		Options   settings  `json:"options"`
		Tools     []tool    `json:"tools,omitempty"`
		Messages  []message `json:"messages"`
	}
	settings struct {
		Context     int      `json:"num_ctx"`
		Predict     int      `json:"num_predict,omitempty"`
		Temperature *float64 `json:"temperature,omitempty"`
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
		Role     llm.Role `json:"role"`
		Content  string   `json:"content"`
		Thinking string   `json:"thinking,omitempty"`
		Images   [][]byte `json:"images,omitempty"`
		Calls    []call   `json:"tool_calls,omitempty"`
		ToolName string   `json:"tool_name,omitempty"`
	}
	call struct {
		Function called `json:"function"`
	}
	called struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
)

// forEver is what Ollama takes for a time without an end.
const forEver = -1

// pictures are what both of Ollama's engines decode.
var pictures = []string{"image/jpeg", "image/png", "image/webp"}

// body is the request as the server reads it.
func (m *Model) body(r *llm.Request) ([]byte, error) {
	if err := r.Check(); err != nil {
		return nil, fmt.Errorf("request to %s: %w", m.name, err)
	}
	c := chat{Model: m.name, Stream: true, KeepAlive: m.keepAlive(), Think: m.think()}
	c.Options = settings{Context: m.options.Context, Predict: max(r.MaxTokens, 0), Temperature: r.Temperature}
	if r.Context > 0 {
		c.Options.Context = r.Context
	}
	if r.JSON {
		c.Format = "json"
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
		c.Messages[i] = newMessage(&r.Messages[i])
	}
	body, err := strictjson.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("request to %s: %w", m.name, err)
	}
	return body, nil
}

func newMessage(m *llm.Message) message {
	content := m.Text
	sent := message{Role: m.Role, Thinking: m.Thinking}
	for _, image := range m.Images {
		if slices.Contains(pictures, image.MediaType) && len(image.Data) > 0 {
			sent.Images = append(sent.Images, image.Data)
			continue
		}
		content = strings.TrimPrefix(content+"\n"+image.InWords(), "\n")
	}
	sent.Content = untag(content)
	for _, c := range m.Calls {
		sent.Calls = append(sent.Calls, call{called{c.Name, toolargs.Append(nil, untag(c.Arguments))}})
	}
	if m.Role == llm.ToolResult {
		sent.ToolName = m.Name
	}
	return sent
}

var tag = regexp.MustCompile(`\[img-(\d+)\]`)

// untag takes from text what Ollama would read as its own tag for a picture. A tag of a picture that is not
// there makes it refuse the request, and every later one in the conversation.
func untag(text string) string {
	if !strings.Contains(text, "[img-") {
		return text
	}
	return tag.ReplaceAllString(text, "[img -$1]")
}

func (m *Model) keepAlive() any {
	switch d := m.options.KeepAlive; {
	case d > 0:
		return d.String()
	case d < 0:
		return forEver
	}
	return nil
}

func (m *Model) think() any {
	switch m.options.Think {
	case "":
		return nil
	case ThinkOn:
		return true
	case ThinkOff:
		return false
	}
	return m.options.Think
}
