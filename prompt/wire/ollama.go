package wire

import (
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/turnstone-dev/turnstone/prompt"
)

// ollamaPictures are what both of its engines decode.
var ollamaPictures = pictures{types: []string{"image/jpeg", "image/png", "image/webp"}}

// ollama appends the body of a request to /api/chat. Left to itself Ollama takes a window of its own, drops
// the oldest messages of a prompt that is too long, and forgets the beginning when the reply reaches the
// window, all of it silently. So num_ctx is always said, "truncate":false makes a prompt that is too
// long an error, and "shift":false ends a reply at the window with done_reason "length". The three never
// vary within a window's life, because a server reloads the model when they do. Whether to stream is the
// client's to add.
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
	w.str(joined(pieces))
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
		w.dst = appendArguments(w.dst, calls[i].Arguments)
		w.raw("}}")
	}
	w.raw("]")
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
