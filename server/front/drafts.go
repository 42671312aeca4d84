package front

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/turn"
)

// drafting makes turns of messages.
type drafting struct {
	drafts []turn.Draft
	// open are calls without a result, as the log has them, and asked the same as the client has them.
	open  []turn.ToolCall
	asked []llm.Call
	// ours says that the open calls were made by a turn that is in the log already: they are closed there.
	ours bool
	// late are pictures of tools. They come behind the results, which stand together.
	late []turn.Draft
}

// newDrafting begins behind a message of the client whose calls the log has under ids of its own.
func newDrafting(asked []llm.Call, open []turn.ToolCall) *drafting {
	n := min(len(asked), len(open))
	return &drafting{open: slices.Clone(open[:n]), asked: slices.Clone(asked[:n]), ours: true}
}

// add makes turns of messages; the last of them may be results. It is an error where the log does not have the call of one.
func (d *drafting) add(messages ...message) error {
	for i := range messages {
		m := &messages[i]
		if m.role == llm.ToolResult {
			if err := d.result(m); err != nil {
				return err
			}
			continue
		}
		d.close()
		if m.role == llm.Assistant {
			d.assistant(m)
		} else {
			d.user(m)
		}
	}
	d.pictures()
	return nil
}

// close gives calls results that the client never brought, where nobody else does.
func (d *drafting) close() {
	if !d.ours {
		for _, c := range d.open {
			d.drafts = append(d.drafts, turn.Draft{Role: turn.System, Content: turn.Result{
				Name: c.Name, CallID: c.ID, Status: turn.CallCancelled, Synthetic: true,
			}})
		}
	}
	d.open, d.asked, d.ours = nil, nil, false
	d.pictures()
}

// all are the turns when no message follows: calls among them that nobody brings results for are closed, and something is
// there in any case, since an exchange begins with something.
func (d *drafting) all() []turn.Draft {
	if !d.ours {
		d.close()
	}
	if len(d.drafts) == 0 {
		return said(turn.User, nothing)
	}
	return d.drafts
}

func (d *drafting) pictures() { d.drafts, d.late = append(d.drafts, d.late...), nil }

// result is the answer to one of the open calls.
func (d *drafting) result(m *message) error {
	at := m.answers(d.asked)
	if at < 0 {
		return &badCall{errForgotten}
	}
	// A result has words only.
	d.late = append(d.late, spoken(slices.DeleteFunc(slices.Clone(m.parts), func(p part) bool { return p.image == nil }))...)
	c := d.open[at]
	d.open, d.asked = slices.Delete(d.open, at, at+1), slices.Delete(d.asked, at, at+1)
	d.drafts = append(d.drafts, turn.Draft{Role: turn.System, Content: turn.Result{
		Name: c.Name, CallID: c.ID, Status: turn.CallOK, Result: string(strictjson.AppendString(nil, m.text())),
	}})
	return nil
}

// assistant is what somebody else said for us: another model, or the user who changed a reply.
func (d *drafting) assistant(m *message) {
	if m.empty() {
		return
	}
	d.open, d.asked = storedCalls(m.calls), slices.Clone(m.calls)
	d.drafts = append(d.drafts, turn.Draft{Role: turn.Agent, Content: turn.Text{Text: m.text(), ToolCalls: slices.Clone(d.open)}})
}

func (d *drafting) user(m *message) {
	if m.empty() {
		d.drafts = append(d.drafts, said(turn.User, nothing)...)
		return
	}
	d.drafts = append(d.drafts, spoken(m.parts)...)
}

// spoken are the turns of one message of the user's.
func spoken(parts []part) (drafts []turn.Draft) {
	for i := range parts {
		p := &parts[i]
		if p.image == nil {
			drafts = append(drafts, said(turn.User, p.text)...)
			continue
		}
		drafts = append(drafts, turn.Draft{Role: turn.User, Content: turn.Image{MediaType: p.mediaType(), Blob: turn.Blob{Data: p.image}}})
	}
	if len(drafts) > 1 {
		id := rand.Text()
		for i := range drafts {
			drafts[i].MessageID = id
		}
	}
	return drafts
}

// nothing stands for a message without words, which a log does not keep.
const nothing = "(empty)"

func said(role turn.Role, text string) []turn.Draft {
	if text == "" {
		return nil
	}
	return []turn.Draft{{Role: role, Content: turn.Text{Text: text}}}
}

const (
	// maxName is what the log takes of a name or an id.
	maxName = 256
	unnamed = "unnamed"
)

// storedCalls are calls as a log takes them: each with an id of its own, a name, and arguments that are JSON.
func storedCalls(calls []llm.Call) []turn.ToolCall {
	var stored []turn.ToolCall
	ids := map[string]bool{}
	for i, c := range calls {
		id, name := plain(c.ID), plain(c.Name)
		if id == "" || len(id) > maxName || ids[id] {
			id = fmt.Sprintf("call-%d-%s", i+1, rand.Text())
		}
		ids[id] = true
		if name == "" || len(name) > maxName {
			name = unnamed
		}
		stored = append(stored, turn.ToolCall{ID: id, Name: name, Arguments: storedArguments(c.Arguments)})
	}
	return stored
}

// storedArguments are one JSON value: as they came, {} for none, and a string of what is not JSON.
func storedArguments(arguments string) string {
	trimmed := strings.TrimSpace(plain(arguments))
	switch {
	case trimmed == "":
		return "{}"
	case strictjson.Check(trimmed) == nil:
		return trimmed
	}
	return string(strictjson.AppendString(nil, trimmed))
}
