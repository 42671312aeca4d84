package front

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/internal/toolargs"
	"github.com/turnstone-dev/turnstone/llm"
)

// ask is the body of the request to the upstream server: what the client wants, with the messages of the compiled prompt in
// place of its own.
func (c *call) ask(to Kind, r *llm.Request) []byte {
	var fields map[string]json.RawMessage
	switch from := c.api.kind(); {
	case from == to && to == Ollama:
		fields = c.ollamaFields()
	case from == to:
		fields = maps.Clone(c.fields)
	case to == Ollama:
		fields = c.openaiToOllama()
	default:
		fields = c.ollamaToOpenAI()
	}
	fields["model"], fields["stream"] = encode(c.model), encode(c.stream)
	if to == Ollama {
		fit(fields, r)
	} else {
		c.bound(fields, r)
	}
	body := []byte{'{'}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		body = append(append(strictjson.AppendString(body, name), ':'), fields[name]...)
		body = append(body, ',')
	}
	body = append(body, `"messages":[`...)
	for i := range r.Messages {
		if i > 0 {
			body = append(body, ',')
		}
		body = appendMessage(body, &r.Messages[i], to)
	}
	return append(body, "]}"...)
}

// fit tells Ollama the window, and not to cut what does not fit it: left to itself it would without a word.
func fit(fields map[string]json.RawMessage, r *llm.Request) {
	options := map[string]json.RawMessage{}
	if json.Unmarshal(fields["options"], &options) != nil || options == nil {
		options = map[string]json.RawMessage{}
	}
	options["num_ctx"] = encode(r.Context)
	var most float64
	if json.Unmarshal(options["num_predict"], &most) != nil || most < 0 || r.MaxTokens > 0 && int(most) > r.MaxTokens {
		most = 0
	}
	if most == 0 && r.MaxTokens > 0 {
		options["num_predict"] = encode(r.MaxTokens)
	}
	fields["options"] = encode(options)
	fields["truncate"], fields["shift"] = json.RawMessage("false"), json.RawMessage("false")
}

// bound tells a server that speaks as OpenAI does no more than fits, which it would refuse, and to count. What else the
// client wants of its stream stays as it is.
func (c *call) bound(fields map[string]json.RawMessage, r *llm.Request) {
	for _, name := range []string{"max_tokens", "max_completion_tokens"} {
		var most float64
		if json.Unmarshal(fields[name], &most) == nil && r.MaxTokens > 0 && most > float64(r.MaxTokens) {
			fields[name] = encode(r.MaxTokens)
		}
	}
	options := map[string]json.RawMessage{}
	if raw, ok := fields["stream_options"]; ok && (json.Unmarshal(raw, &options) != nil || options == nil) {
		options = map[string]json.RawMessage{}
	}
	if delete(fields, "stream_options"); c.stream {
		options["include_usage"] = json.RawMessage("true")
		fields["stream_options"] = encode(options)
	}
}

// ollamaFields are what a call of /api/chat or /api/generate has besides its messages.
func (c *call) ollamaFields() map[string]json.RawMessage {
	fields := maps.Clone(c.fields)
	if c.api == ollamaGenerate {
		for _, name := range []string{"prompt", "system", "context", "images", "suffix", "template", "raw"} {
			delete(fields, name)
		}
	}
	return fields
}

// sameOptions are options that both APIs have, by their names at Ollama and OpenAI.
var sameOptions = [][2]string{
	{"temperature", "temperature"}, {"top_p", "top_p"}, {"seed", "seed"}, {"stop", "stop"},
	{"frequency_penalty", "frequency_penalty"}, {"presence_penalty", "presence_penalty"},
	{"num_predict", "max_tokens"}, {"num_predict", "max_completion_tokens"},
}

// openaiToOllama says to Ollama what a call wants of OpenAI.
func (c *call) openaiToOllama() map[string]json.RawMessage {
	fields, options := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	for _, names := range sameOptions {
		if raw, ok := c.fields[names[1]]; ok && string(raw) != "null" {
			options[names[0]] = raw
		}
	}
	if stop := options["stop"]; len(stop) > 0 && stop[0] == '"' {
		options["stop"] = append(append([]byte{'['}, stop...), ']') // Ollama takes a list only
	}
	fields["options"] = encode(options)
	var format struct {
		Type   string `json:"type"`
		Schema struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	}
	if c.read("response_format", &format) == nil && format.Type == "json_object" {
		fields["format"] = json.RawMessage(`"json"`)
	} else if format.Type == "json_schema" && len(format.Schema.Schema) > 0 {
		fields["format"] = format.Schema.Schema
	}
	var effort string
	if c.read("reasoning_effort", &effort) == nil && effort == "none" {
		fields["think"] = json.RawMessage("false")
	} else if effort != "" {
		fields["think"] = encode(effort)
	}
	if raw, ok := c.fields["tools"]; ok && string(c.fields["tool_choice"]) != `"none"` {
		fields["tools"] = raw
	}
	return fields
}

// ollamaToOpenAI says to OpenAI what a call wants of Ollama.
func (c *call) ollamaToOpenAI() map[string]json.RawMessage {
	fields, options := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if c.read("options", &options) == nil {
		for _, names := range sameOptions[:len(sameOptions)-1] {
			if raw, ok := options[names[0]]; ok && !(names[0] == "num_predict" && strings.HasPrefix(string(raw), "-")) {
				fields[names[1]] = raw
			}
		}
	}
	switch format := c.fields["format"]; {
	case string(format) == `"json"`:
		fields["response_format"] = json.RawMessage(`{"type":"json_object"}`)
	case len(format) > 0 && format[0] == '{':
		fields["response_format"] = encode(map[string]any{
			"type": "json_schema", "json_schema": map[string]any{"name": "answer", "schema": json.RawMessage(format)},
		})
	}
	if think := string(c.fields["think"]); strings.HasPrefix(think, `"`) {
		fields["reasoning_effort"] = c.fields["think"]
	}
	if raw, ok := c.fields["tools"]; ok && string(raw) != "null" {
		fields["tools"] = raw
	}
	return fields
}

// appendMessage writes a message of the prompt.
func appendMessage(dst []byte, m *llm.Message, to Kind) []byte {
	dst = strictjson.AppendString(append(dst, `{"role":`...), string(m.Role))
	text := m.Text
	if to == Ollama {
		text = untag(text)
	}
	switch {
	case to == OpenAI && len(m.Images) > 0:
		dst = appendParts(append(dst, `,"content":`...), m)
	case to == OpenAI && text == "" && len(m.Calls) > 0:
		dst = append(dst, `,"content":null`...)
	default:
		dst = strictjson.AppendString(append(dst, `,"content":`...), text)
	}
	if to == Ollama && len(m.Images) > 0 {
		images := make([][]byte, len(m.Images))
		for i := range m.Images {
			images[i] = m.Images[i].Data
		}
		dst = append(append(dst, `,"images":`...), encode(images)...)
	}
	if len(m.Calls) > 0 {
		dst = appendCalls(append(dst, `,"tool_calls":`...), m.Calls, to)
	}
	if m.Role == llm.ToolResult && to == OpenAI {
		dst = strictjson.AppendString(append(dst, `,"tool_call_id":`...), m.CallID)
	} else if m.Role == llm.ToolResult {
		dst = strictjson.AppendString(append(dst, `,"tool_name":`...), m.Name)
	}
	return append(dst, '}')
}

func appendParts(dst []byte, m *llm.Message) []byte {
	dst = append(dst, '[')
	if m.Text != "" {
		dst = append(strictjson.AppendString(append(dst, `{"type":"text","text":`...), m.Text), "},"...)
	}
	for i := range m.Images {
		if i > 0 {
			dst = append(dst, ',')
		}
		image := &m.Images[i]
		dst = strictjson.AppendString(append(dst, `{"type":"image_url","image_url":{"url":`...), "data:"+image.MediaType+";base64,")
		dst = dst[:len(dst)-1] // the bytes follow
		dst = append(base64.StdEncoding.AppendEncode(dst, image.Data), `"}}`...)
	}
	return append(dst, ']')
}

// appendCalls writes calls: Ollama has arguments as an object, OpenAI as a text that holds one.
func appendCalls(dst []byte, calls []llm.Call, to Kind) []byte {
	dst = append(dst, '[')
	for i, c := range calls {
		if i > 0 {
			dst = append(dst, ',')
		}
		arguments := toolargs.Append(nil, c.Arguments)
		if to == OpenAI {
			arguments = strictjson.AppendString(nil, string(arguments))
		}
		dst = strictjson.AppendString(append(dst, `{"id":`...), c.ID)
		dst = strictjson.AppendString(append(dst, `,"type":"function","function":{"name":`...), c.Name)
		dst = append(append(append(dst, `,"arguments":`...), arguments...), "}}"...)
	}
	return append(dst, ']')
}

var tag = regexp.MustCompile(`\[img-(\d+)\]`)

// untag takes from a text what Ollama would read as its own tag of a picture, and refuse when there is none.
func untag(text string) string {
	if !strings.Contains(text, "[img-") {
		return text
	}
	return tag.ReplaceAllString(text, "[img -$1]")
}

// encode writes a value that can be written: a mistake in here is one of the program.
func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic("front: " + err.Error())
	}
	return data
}
