package history

import (
	"context"
	"encoding/base64"
	"strings"

	"github.com/turnstone-dev/turnstone/turn"
)

// anthropicWriter writes {"system":[…],"messages":[…]}, a message a line.
type anthropicWriter struct {
	*exporter
	system   []byte // the texts before the first message
	messages int
}

func (e *exporter) anthropic(ctx context.Context) error {
	e.headerLost("session", e.header.Session, "title", e.header.Title, "provider", e.header.Provider, "user", e.header.User,
		"times", e.header.times(), "compressions", count(int64(e.header.Compressions)), "tokens", count(e.header.Tokens))
	w := &anthropicWriter{exporter: e}
	if err := e.units(ctx, func(u *unit) error { return w.unit(ctx, u) }); err != nil {
		return err
	}
	if w.messages == 0 {
		w.open()
	}
	e.anonymous()
	e.write("\n]\n}\n")
	return nil
}

// unit writes a message and, as the next message, the results of its calls.
func (w *anthropicWriter) unit(ctx context.Context, u *unit) error {
	system := u.turns[0].Role == turn.System
	role, prefix := wireRole(u.turns[0].Role), ""
	if system && w.messages > 0 {
		w.lose(u.turns[0], "texts of the system amid the messages", "written as the user's, behind [system]")
		role, prefix = "user", "[system] "
	}
	blocks, err := w.blocks(ctx, u, prefix)
	if err != nil {
		return err
	}
	if system && w.messages == 0 {
		if len(w.system) > 0 {
			w.system = append(w.system, ',')
		}
		w.system = append(w.system, blocks...)
		return nil
	}
	w.message(role, blocks)
	var results []byte
	for _, c := range u.calls() {
		if len(results) > 0 {
			results = append(results, ',')
		}
		results = w.appendResult(results, u, c)
	}
	if len(results) > 0 {
		w.message("user", results)
	}
	return nil
}

// open writes what stands before the messages.
func (w *anthropicWriter) open() {
	w.write("{\n")
	if w.header.Model != "" {
		w.write(`"model":`, quoted(w.header.Model), ",\n")
	}
	if len(w.system) > 0 {
		w.write(`"system":[`, string(w.system), "],\n")
	}
	w.write(`"messages":[`)
}

func (w *anthropicWriter) message(role string, blocks []byte) {
	if w.messages == 0 {
		w.open()
		w.write("\n")
	} else {
		w.write(",\n")
	}
	w.messages++
	w.write(`{"role":`, quoted(role), `,"content":[`, string(blocks), "]}")
}

// blocks are the parts of a message: thoughts, text, image and calls of each turn in this order, each
// text behind the prefix.
func (w *anthropicWriter) blocks(ctx context.Context, u *unit, prefix string) ([]byte, error) {
	var b []byte
	block := func(write func([]byte) []byte) {
		if len(b) > 0 {
			b = append(b, ',')
		}
		b = append(write(b), '}')
	}
	for _, t := range u.turns {
		p, err := w.project(ctx, t)
		if err != nil {
			return nil, err
		}
		if c, ok := t.Content.(turn.Text); ok && c.Thinking != "" {
			w.lose(t, "signatures of thoughts", "left empty: the provider refuses them")
			block(func(b []byte) []byte {
				return appendText(appendText(b, `{"type":"thinking","thinking":`, c.Thinking), `,"signature":`, "")
			})
		}
		if p.image != nil {
			block(func(b []byte) []byte {
				b = appendText(b, `{"type":"image","source":{"type":"base64","media_type":`, p.image.MediaType)
				b = base64.StdEncoding.AppendEncode(append(b, `,"data":"`...), p.image.Data)
				return append(b, `"}`...)
			})
		} else if p.text != "" {
			block(func(b []byte) []byte { return appendText(b, `{"type":"text","text":`, prefix+p.text) })
		}
		for _, c := range t.Calls() {
			block(func(b []byte) []byte {
				b = appendText(b, `{"type":"tool_use","id":`, c.ID)
				b = appendText(b, `,"name":`, c.Name)
				return append(append(b, `,"input":`...), w.input(t, c)...)
			})
		}
	}
	return b, nil
}

// input is what a call was given, which must be an object here.
func (w *anthropicWriter) input(t turn.Turn, c turn.ToolCall) string {
	if strings.HasPrefix(c.Arguments, "{") {
		return c.Arguments
	}
	w.lose(t, "arguments that are no objects", `written as {"value":…}`)
	return `{"value":` + c.Arguments + "}"
}

func (w *anthropicWriter) appendResult(b []byte, u *unit, c turn.ToolCall) []byte {
	r := w.result(u, c)
	b = appendText(b, `{"type":"tool_result","tool_use_id":`, c.ID)
	if text := outcomeText(r); text != "" {
		b = appendText(b, `,"content":`, text)
	}
	if r.Status != turn.CallOK {
		b = append(b, `,"is_error":true`...)
	}
	if r.Status == turn.CallCancelled {
		w.lose(u.turns[0], "cancelled calls", "written as failed")
	}
	return append(b, '}')
}
