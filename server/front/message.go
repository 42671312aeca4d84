package front

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/turnstone-dev/turnstone/chain"
	"github.com/turnstone-dev/turnstone/internal/toolargs"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/turn"
)

// message is one message of a client's history, whatever the API it came over.
type message struct {
	role  llm.Role
	parts []part
	calls []llm.Call
	// callID and name are of a tool's: which call it answers, and the tool, as far as the API says so.
	callID, name string
	// skips is, of a tool's, how many calls that wait for a result come before the one that it answers; see [ordering].
	skips int
}

// part is a text or a picture.
type part struct {
	text  string
	image []byte
	media string     // what the client says that the picture is
	sum   chain.Hash // of the picture
}

// sent is a message as clients of either API write it.
type sent struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	Refusal    string          `json:"refusal"`
	Images     []string        `json:"images"`
	ToolCalls  []askedCall     `json:"tool_calls"`
	ToolName   string          `json:"tool_name"`
	ToolCallID string          `json:"tool_call_id"`
	Name       string          `json:"name"`
	// FunctionCall and Audio are refused.
	FunctionCall json.RawMessage `json:"function_call"`
	Audio        json.RawMessage `json:"audio"`
}

// askedCall is a call in a history. Those of another type than function have no arguments.
type askedCall struct {
	Type string `json:"type"`
	sentCall
}

type sentCall struct {
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

func (c *sentCall) call() llm.Call {
	return llm.Call{ID: c.ID, Name: c.Function.Name, Arguments: toolargs.Text(c.Function.Arguments)}
}

// sentPart is a part of a content that is a list.
type sentPart struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Refusal  string `json:"refusal"`
	ImageURL struct {
		URL string `json:"url"`
	} `json:"image_url"`
}

// roles are what the roles of both APIs are here.
var roles = map[string]llm.Role{
	"system": llm.System, "developer": llm.System, "user": llm.User, "assistant": llm.Assistant, "tool": llm.ToolResult,
}

// decodeMessage reads one message. What cannot be carried as it was sent is refused by name: left out or put into other words, it
// would be another conversation.
func decodeMessage(raw []byte) (m message, err error) {
	if len(raw) > 0 && raw[0] == '{' {
		if err := fewInside(raw); err != nil {
			return m, err
		}
	}
	var s sent
	if err := json.Unmarshal(raw, &s); err != nil {
		return m, typed("", raw, err)
	}
	role, ok := roles[strings.ToLower(s.Role)] // Ollama takes them so
	if !ok {
		return m, &misfit{"role", invalidValue, fmt.Sprintf("'%.40s'. Supported values are: 'system', 'developer', 'user', 'assistant', and 'tool'.", s.Role)}
	}
	if err := s.check(); err != nil {
		return m, err
	}
	m = message{role: role, callID: s.ToolCallID, name: s.ToolName}
	if m.name == "" {
		m.name = s.Name
	}
	if m.parts, err = content(s.Content); err != nil {
		return m, err
	}
	m.refuse(plain(s.Refusal))
	for i, image := range s.Images {
		shown, err := encodedPicture(i, image)
		if err != nil {
			return m, err
		}
		m.parts = append(m.parts, shown)
	}
	if m.shows() && role != llm.User && role != llm.ToolResult {
		return m, &misfit{"content", invalidValue, fmt.Sprintf("a message of role '%s' cannot show a picture. Send it in a message of role 'user'.", s.Role)}
	}
	for _, c := range s.ToolCalls {
		m.calls = append(m.calls, c.call())
	}
	return m, nil
}

// check refuses members of a message that are not carried.
func (s *sent) check() error {
	there := func(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }
	if there(s.FunctionCall) {
		return &misfit{"function_call", invalidValue, "it is not supported. Send 'tool_calls', and results in messages of role 'tool'."}
	}
	if there(s.Audio) {
		return &misfit{"audio", invalidValue, "audio is not supported. Send its transcript as text."}
	}
	for i, c := range s.ToolCalls {
		if c.Type != "" && c.Type != "function" {
			return &misfit{fmt.Sprintf("tool_calls[%d].type", i), invalidValue, fmt.Sprintf("'%.40s'. Supported values are: 'function'.", c.Type)}
		}
	}
	return nil
}

// refuse adds what an assistant refused to do. It stands in place of the rest of a reply, and is heard as part of it.
func (m *message) refuse(refusal string) {
	if last := len(m.parts) - 1; refusal != "" && last >= 0 && m.parts[last].image == nil {
		m.parts[last].text += refusal
	} else if refusal != "" {
		m.parts = append(m.parts, part{text: refusal})
	}
}

// content reads a text, a list of parts, or nothing.
func content(raw json.RawMessage) ([]part, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	if raw[0] == '"' {
		var s string
		if err := json.Unmarshal(raw, &s); err != nil || s == "" {
			return nil, err
		}
		return []part{{text: plain(s)}}, nil
	}
	if raw[0] != '[' {
		return nil, mistyped("content", "one of a string or array of objects", raw)
	}
	var list []sentPart
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, typed("content", raw, err)
	}
	var parts []part
	for i, p := range list {
		switch p.Type {
		case "image_url":
			shown, err := pictureAt(p.ImageURL.URL)
			if err != nil {
				return nil, &misfit{fmt.Sprintf("content[%d].image_url.url", i), invalidValue, err.Error()}
			}
			parts = append(parts, shown)
		case "", "text", "input_text", "output_text", "refusal":
			if p.Text+p.Refusal != "" {
				parts = append(parts, part{text: plain(p.Text + p.Refusal)})
			}
		default:
			return nil, &misfit{fmt.Sprintf("content[%d].type", i), invalidValue,
				fmt.Sprintf("'%.40s'. Supported values are: 'text', 'image_url', and 'refusal'. Send what it says as text.", p.Type)}
		}
	}
	return parts, nil
}

// pictureAt is the picture of a data URL. What stands elsewhere is not fetched.
func pictureAt(url string) (part, error) {
	data, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return part{}, errors.New("pictures are not fetched. Send the picture itself: data:image/png;base64,…")
	}
	about, encoded, ok := strings.Cut(data, ";base64,")
	if !ok {
		return part{}, fmt.Errorf("%.40q is no data URL in base64", url)
	}
	image, err := base64.StdEncoding.DecodeString(encoded)
	shown := picture(image)
	if media, _, unread := mime.ParseMediaType(about); unread == nil {
		shown.media = media
	}
	return shown, cmp.Or(err, shown.known())
}

// known is an error where a picture is of a kind that no log keeps.
func (p *part) known() error {
	if media := p.mediaType(); !slices.Contains(turn.ImageTypes(), media) {
		return fmt.Errorf("the picture is %s; send one of %s", media, strings.Join(turn.ImageTypes(), ", "))
	}
	return nil
}

// encodedPicture is one of several pictures that are given as base64 alone.
func encodedPicture(i int, encoded string) (part, error) {
	data, err := base64.StdEncoding.DecodeString(encoded)
	shown := picture(data)
	if err = cmp.Or(err, shown.known()); err != nil {
		return part{}, &misfit{fmt.Sprintf("images[%d]", i), invalidValue, err.Error()}
	}
	return shown, nil
}

func picture(data []byte) part { return part{image: data, sum: sha256.Sum256(data)} }

// mediaType is what the bytes of a picture say, and what the client says of those that say nothing.
func (p *part) mediaType() string {
	seen := http.DetectContentType(p.image)
	if !strings.HasPrefix(seen, "image/") && strings.HasPrefix(p.media, "image/") {
		return p.media
	}
	return seen
}

// plain replaces what no store keeps.
func plain(s string) string {
	if strings.IndexByte(s, 0) < 0 {
		return s // what was decoded from JSON is UTF-8
	}
	return strings.ReplaceAll(s, "\x00", "\ufffd")
}

// text is what the message says in words.
func (m *message) text() string { return strings.Join(m.texts(), "\n") }

// texts are the parts of the message that are words.
func (m *message) texts() (texts []string) {
	for _, p := range m.parts {
		if p.image == nil && p.text != "" {
			texts = append(texts, p.text)
		}
	}
	return texts
}

// empty reports whether the message says nothing at all.
func (m *message) empty() bool {
	for _, p := range m.parts {
		if p.image != nil || strings.TrimSpace(p.text) != "" {
			return false
		}
	}
	return len(m.calls) == 0
}

// replies reports whether the message is a reply that says something.
func (m *message) replies() bool { return m.role == llm.Assistant && !m.empty() }

// next is the hash of a conversation that goes on with the message. Messages of the system are part of a call and not of the
// conversation, and an assistant who said nothing has left nothing behind. Blanks around a text do not count, since
// clients trim it, and neither do ids of calls, which not every API has: what a result answers counts where it is not
// the next call.
func (m *message) next(h chain.Hash) chain.Hash {
	if m.role == llm.System || m.role == llm.Assistant && m.empty() {
		return h
	}
	c := chain.Message{Role: string(m.role)}
	for _, p := range m.parts {
		if p.image == nil {
			c.Parts = append(c.Parts, chain.Part{Text: strings.TrimSpace(p.text)})
		} else {
			c.Parts = append(c.Parts, chain.Part{Blob: p.sum})
		}
	}
	for _, call := range m.calls {
		c.Calls = append(c.Calls, chain.Call{Name: call.Name, Arguments: call.Arguments})
	}
	if m.skips > 0 {
		c.CallID = strconv.Itoa(m.skips)
	}
	return chain.Next(h, c)
}
