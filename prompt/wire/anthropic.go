package wire

import (
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/toolargs"
	"github.com/turnstone-dev/turnstone/prompt"
)

const (
	anthropicMaxTokens = 4096
	anthropicUser      = "user"
	anthropicAgent     = "assistant"

	systemStart = "<system>\n"
	systemEnd   = "\n</system>"
)

// anthropicPictures are limited to 5 MiB of base64.
var anthropicPictures = pictures{
	types: []string{"image/jpeg", "image/png", "image/gif", "image/webp"},
	limit: 5 << 20 / 4 * 3,
}

// anthropic appends the body of a request to /v1/messages.
func (w *writer) anthropic(r *Request) error {
	w.raw(`{"model":`)
	w.str(r.Model)
	w.raw(`,"max_tokens":`)
	limit := r.MaxTokens
	if limit <= 0 {
		limit = anthropicMaxTokens
	}
	w.dst = strconv.AppendInt(w.dst, int64(limit), 10)
	if err := w.tools(r.Tools, "", "input_schema", ""); err != nil {
		return err
	}
	system, rest := conversation(r.Messages)
	if system != nil {
		pieces, err := w.show(system, noPictures)
		if err != nil {
			return err
		}
		w.raw(`,"system":[`)
		w.blocks(pieces)
		w.raw("]")
	}
	w.raw(`,"messages":[`)
	role := ""
	if len(rest) == 0 || rest[0].Role == prompt.Agent {
		role = w.side(role, anthropicUser)
		w.textBlock(beginning)
	}
	for i := range rest {
		next := anthropicUser
		if rest[i].Role == prompt.Agent {
			next = anthropicAgent
		}
		role = w.side(role, next)
		if err := w.anthropicMessage(&rest[i]); err != nil {
			return err
		}
	}
	if role == anthropicAgent {
		w.side(role, anthropicUser)
		w.textBlock(goOn)
	}
	w.raw("]}]}")
	return nil
}

// side makes next the role of what follows and returns it: in the open message where that has it, in a new
// one otherwise.
func (w *writer) side(open, next string) string {
	if open == next {
		return next
	}
	if open != "" {
		w.raw("]}")
	}
	w.comma()
	w.raw(`{"role":"` + next + `","content":[`)
	return next
}

// anthropicMessage appends the blocks of one message.
func (w *writer) anthropicMessage(m *prompt.Message) error {
	accepted := anthropicPictures
	if m.Role == prompt.Agent || m.Role == prompt.System {
		accepted = noPictures
	}
	pieces, err := w.show(m, accepted)
	if err != nil {
		return err
	}
	switch m.Role {
	case prompt.Agent:
		for i := range pieces {
			w.textBlock(strings.TrimRightFunc(pieces[i].text, space))
		}
		w.toolUses(m.Calls)
	case prompt.Tool:
		w.comma()
		w.raw(`{"type":"tool_result","tool_use_id":`)
		w.str(w.answered().ID)
		if m.Failed {
			w.raw(`,"is_error":true`)
		}
		w.raw(`,"content":[`)
		w.blocks(pieces)
		w.raw("]}")
	case prompt.System:
		w.textBlock(systemStart + joined(pieces) + systemEnd)
	default:
		w.blocks(pieces)
	}
	return nil
}

func (w *writer) toolUses(calls []prompt.ToolCall) {
	w.open = calls
	for i := range calls {
		w.comma()
		w.raw(`{"type":"tool_use","id":`)
		w.str(calls[i].ID)
		w.raw(`,"name":`)
		w.str(ToolName(calls[i].Name))
		w.raw(`,"input":`)
		w.dst = toolargs.Append(w.dst, calls[i].Arguments)
		w.raw("}")
	}
}

func (w *writer) blocks(pieces []piece) {
	for i := range pieces {
		p := &pieces[i]
		if p.data == nil {
			w.textBlock(p.text)
			continue
		}
		w.comma()
		w.raw(`{"type":"image","source":{"type":"base64","media_type":"` + p.mediaType + `","data":"`)
		w.dst = base64.StdEncoding.AppendEncode(w.dst, p.data)
		w.raw(`"}}`)
	}
}

func (w *writer) textBlock(text string) {
	w.comma()
	w.raw(`{"type":"text","text":`)
	w.str(text)
	w.raw("}")
}
