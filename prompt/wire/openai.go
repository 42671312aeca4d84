package wire

import (
	"encoding/base64"
	"slices"
	"strconv"

	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/internal/toolargs"
	"github.com/turnstone-dev/turnstone/prompt"
)

var openAIPictures = pictures{types: []string{"image/jpeg", "image/png", "image/gif", "image/webp"}}

// roles are what OpenAI and Ollama call them.
var roles = map[prompt.Role]string{
	prompt.System: "system", prompt.User: "user", prompt.Note: "user", prompt.Agent: "assistant", prompt.Tool: "tool",
}

// openAI appends the body of a request to /v1/chat/completions.
func (w *writer) openAI(r *Request) error {
	w.raw(`{"model":`)
	w.str(r.Model)
	if r.MaxTokens > 0 {
		w.raw(`,"max_completion_tokens":`)
		w.dst = strconv.AppendInt(w.dst, int64(r.MaxTokens), 10)
	}
	if err := w.functions(r.Tools); err != nil {
		return err
	}
	return w.list(r.Messages, w.openAIMessage)
}

// list appends "messages" and ends the body. Message appends the members of one after its role.
func (w *writer) list(messages []prompt.Message, message func(*prompt.Message) error) error {
	w.raw(`,"messages":[`)
	for i := range messages {
		w.comma()
		w.raw(`{"role":"` + roles[messages[i].Role] + `"`)
		if err := message(&messages[i]); err != nil {
			return err
		}
		w.raw("}")
	}
	if !slices.ContainsFunc(messages, func(m prompt.Message) bool { return m.Role != prompt.System }) {
		w.comma()
		w.raw(`{"role":"user","content":"` + beginning + `"}`)
	}
	w.raw("]}")
	return nil
}

func (w *writer) openAIMessage(m *prompt.Message) error {
	accepted := noPictures
	if roles[m.Role] == "user" {
		accepted = openAIPictures
	}
	pieces, err := w.show(m, accepted)
	if err != nil {
		return err
	}
	if m.Role == prompt.Tool {
		w.raw(`,"tool_call_id":`)
		w.str(w.answered().ID)
	}
	w.raw(`,"content":`)
	switch {
	case len(pieces) == 0:
		w.raw("null")
	case len(pieces) == 1 && pieces[0].data == nil:
		w.str(pieces[0].text)
	default:
		w.contentParts(pieces)
	}
	if len(m.Calls) > 0 {
		w.toolCalls(m.Calls)
	}
	return nil
}

func (w *writer) contentParts(pieces []piece) {
	w.raw("[")
	for i := range pieces {
		p := &pieces[i]
		if p.data == nil {
			w.textBlock(p.text)
			continue
		}
		w.comma()
		w.raw(`{"type":"image_url","image_url":{"url":"data:` + p.mediaType + `;base64,`)
		w.dst = base64.StdEncoding.AppendEncode(w.dst, p.data)
		w.raw(`"}}`)
	}
	w.raw("]")
}

func (w *writer) toolCalls(calls []prompt.ToolCall) {
	w.open = calls
	w.raw(`,"tool_calls":[`)
	for i := range calls {
		w.comma()
		w.raw(`{"id":`)
		w.str(calls[i].ID)
		w.raw(`,"type":"function","function":{"name":`)
		w.str(ToolName(calls[i].Name))
		w.raw(`,"arguments":`)
		w.str(record.String(func(dst []byte) []byte { return toolargs.Append(dst, calls[i].Arguments) }))
		w.raw("}}")
	}
	w.raw("]")
}
