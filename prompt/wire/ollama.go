package wire

import (
	"encoding/base64"
	"regexp"
	"strconv"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/toolargs"
	"github.com/turnstone-dev/turnstone/prompt"
)

// ollamaPictures are what both of its engines decode.
var ollamaPictures = pictures{types: []string{"image/jpeg", "image/png", "image/webp"}}

// ollama appends the body of a request to /api/chat.
func (w *writer) ollama(r *Request) error {
	w.raw(`{"model":`)
	w.str(r.Model)
	w.raw(`,"truncate":false,"shift":false,"options":{"num_ctx":`)
	w.dst = strconv.AppendInt(w.dst, int64(r.Context), 10)
	if r.MaxTokens > 0 {
		w.raw(`,"num_predict":`)
		w.dst = strconv.AppendInt(w.dst, int64(r.MaxTokens), 10)
	}
	w.raw("}")
	if err := w.functions(r.Tools); err != nil {
		return err
	}
	return w.list(r.Messages, w.ollamaMessage)
}

func (w *writer) ollamaMessage(m *prompt.Message) error {
	accepted := noPictures
	if roles[m.Role] == "user" {
		accepted = ollamaPictures
	}
	pieces, err := w.show(m, accepted)
	if err != nil {
		return err
	}
	w.raw(`,"content":`)
	w.str(untag(joined(pieces)))
	w.images(pieces)
	if len(m.Calls) > 0 {
		w.ollamaCalls(m.Calls)
	}
	if m.Role == prompt.Tool {
		w.raw(`,"tool_name":`)
		w.str(ToolName(w.answered().Name))
	}
	return nil
}

func (w *writer) images(pieces []piece) {
	start := len(w.dst)
	w.raw(`,"images":[`)
	empty := len(w.dst)
	for i := range pieces {
		if pieces[i].data == nil {
			continue
		}
		w.comma()
		w.raw(`"`)
		w.dst = base64.StdEncoding.AppendEncode(w.dst, pieces[i].data)
		w.raw(`"`)
	}
	if len(w.dst) == empty {
		w.dst = w.dst[:start]
		return
	}
	w.raw("]")
}

func (w *writer) ollamaCalls(calls []prompt.ToolCall) {
	w.open = calls
	w.raw(`,"tool_calls":[`)
	for i := range calls {
		w.comma()
		w.raw(`{"function":{"name":`)
		w.str(ToolName(calls[i].Name))
		w.raw(`,"arguments":`)
		w.dst = toolargs.Append(w.dst, untag(calls[i].Arguments))
		w.raw("}}")
	}
	w.raw("]")
}

var ollamaTag = regexp.MustCompile(`\[img-(\d+)\]`)

// untag takes from text what Ollama would read as its own tag for a picture. A tag of a picture that is not
// there makes it refuse the request, and every later one in the conversation.
func untag(text string) string {
	if !strings.Contains(text, "[img-") {
		return text
	}
	return ollamaTag.ReplaceAllString(text, "[img -$1]")
}

// joined is the texts of pieces, a line each.
func joined(pieces []piece) string {
	texts := make([]string, 0, len(pieces))
	for i := range pieces {
		if pieces[i].data == nil {
			texts = append(texts, pieces[i].text)
		}
	}
	return strings.Join(texts, "\n")
}
