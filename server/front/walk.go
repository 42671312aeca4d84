package front

import (
	"encoding/hex"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/chain"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/turn"
)

// unit is a message as the log has it: one turn, or the parts of one message.
type unit struct {
	message message
	id      string // that its turns share, where it has several
	last    int64  // its last turn
	cut     bool   // it was cut off
	// all says that nobody was told more of it than is kept: who spoke saw to its end. A process that dies leaves what it wrote down
	// before, and not how long it took.
	all bool

	sums []chain.Hash // see known
}

// units makes messages of turns. What closed a call without a result is no message of anybody.
func units(turns []turn.Turn) []unit {
	var all []unit
	for i := range turns {
		t := &turns[i]
		m, ok := spokenIn(t)
		if !ok {
			continue
		}
		if n := len(all); n > 0 && t.MessageID != "" && all[n-1].id == t.MessageID {
			all[n-1].message.parts = append(all[n-1].message.parts, m.parts...)
			all[n-1].last = t.Seq
			continue
		}
		all = append(all, unit{message: m, id: t.MessageID, last: t.Seq, cut: t.Meta.Interrupted, all: t.Meta.Latency > 0})
	}
	var o ordering
	for i := range all {
		o.next(&all[i].message)
	}
	return all
}

func spokenIn(t *turn.Turn) (m message, ok bool) {
	switch c := t.Content.(type) {
	case turn.Text:
		m.role = llm.User
		if t.Role == turn.Agent {
			m.role = llm.Assistant
		}
		if c.Text != "" && c.Text != nothing {
			m.parts = []part{{text: c.Text}}
		}
		for _, call := range c.ToolCalls {
			m.calls = append(m.calls, llm.Call(call))
		}
	case turn.Image:
		m.role = llm.User
		p := part{image: []byte{}}
		if _, err := hex.Decode(p.sum[:], []byte(c.SHA256)); err != nil {
			return m, false
		}
		m.parts = []part{p}
	case turn.Result:
		if c.Synthetic {
			return m, false
		}
		m.role, m.callID = llm.ToolResult, c.CallID
		if text, err := strictjson.Raw(c.Result).String(); err == nil && text != "" {
			m.parts = []part{{text: text}}
		}
	default:
		m.role = llm.User
	}
	return m, true
}

// likeness is how surely a client means a message of the log.
type likeness int

const (
	other likeness = iota
	// beyond is a reply that was cut off and that the client has more of: there may be others that begin so.
	beyond
	// begun is a reply that was cut off and that the client has the beginning of.
	begun
	alike
)

// same reports whether the client means this message. Of a reply that was cut off it may have seen less, and more where its process
// died before it wrote that down. Of what the model thought aloud clients send nothing back.
func (u *unit) same(m *message) likeness { return u.is(m, m.next(chain.Hash{})) }

// is is same for somebody who holds many units against a message, whose sum by itself is made once.
func (u *unit) is(m *message, sum chain.Hash) likeness {
	if slices.Contains(u.known(), sum) {
		return alike
	}
	if !u.cut || m.role != llm.Assistant || len(m.calls) > 0 || m.empty() {
		return other
	}
	kept, seen := strings.TrimSpace(u.message.text()), strings.TrimSpace(m.text())
	switch {
	case strings.HasPrefix(kept, seen):
		return begun
	case !u.all && kept != "" && strings.HasPrefix(seen, kept) && len(seen)-len(kept) <= maxUnkept:
		return beyond
	}
	return other
}

// known are the sums by themselves of what a client may send back: the message, and the message without its thoughts. They are
// made once, as histories are held against the same units message by message.
func (u *unit) known() []chain.Hash {
	if u.sums != nil {
		return u.sums
	}
	u.sums = []chain.Hash{u.message.next(chain.Hash{})}
	if said := u.message; said.role == llm.Assistant && said.unthought() {
		u.sums = append(u.sums, said.next(chain.Hash{}))
	}
	return u.sums
}

// maxUnkept is how many bytes of a reply a client may have seen that are not in the log, since the process that spoke died
// before it wrote them down.
const maxUnkept = 1 << 10

// unthought takes away what a model thought aloud before it spoke, and reports whether it did.
func (m *message) unthought() bool {
	thought, ok := strings.CutPrefix(strings.TrimSpace(m.text()), "<think>")
	_, rest, ended := strings.Cut(thought, "</think>")
	m.parts = []part{{text: rest}}
	return ok && ended
}
