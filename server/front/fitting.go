package front

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/llm"
)

// fitting remembers how much room is left by what calls begin with: the tools of a client come with each of its calls, and are
// counted once. It is safe for concurrent use.
type fitting struct {
	seed maphash.Seed

	mu    sync.Mutex     // guards all below
	known map[uint64]int // tokens
}

// maxFitting bounds what is remembered. Then it is counted again.
const maxFitting = 4096

func newFitting() *fitting { return &fitting{seed: maphash.MakeSeed(), known: map[uint64]int{}} }

// around is how many tokens stand around a message at most.
const around = 256

// check refuses a call whose system messages and tools no prompt has room for, or with them what is said last.
func (f *fitting) check(ctx context.Context, engine *turnstone.Engine, c *call, system, said []string) error {
	settings := c.settings(system)
	var h maphash.Hash
	h.SetSeed(f.seed)
	for _, text := range []string{engine.Tenant(), c.model, fmt.Sprint(c.context()), settings.System, string(c.fields["tools"])} {
		maphash.WriteComparable(&h, text)
	}
	sum := h.Sum64()
	f.mu.Lock()
	room, known := f.known[sum]
	f.mu.Unlock()
	if !known {
		var err error
		if room, err = engine.Fits(ctx, c.model, c.context(), settings); err != nil {
			return err
		}
		f.put(sum, room)
	}
	size := around
	for _, text := range said {
		size += len(text) // a token has a byte at least
	}
	if size <= room {
		return nil
	}
	_, err := engine.Fits(ctx, c.model, c.context(), settings, said...)
	return err
}

// question are the texts that results are for, where the messages end with some: of what the user said last of the messages, or of
// those before them that an earlier call had. Every prompt shows it, however long the tools have been at work on it. Nil where what
// tools gave may be shown as something of the user's since then, as pictures are; see drafting.
func (c *call) question(messages []message, before *past) []string {
	c.asked = span{}
	if before != nil {
		c.asked = before.asked
	}
	var open []llm.Call
	var asked *message
	for i := range messages {
		switch m := &messages[i]; m.role {
		case llm.User:
			c.asked, asked = c.said, m
		case llm.Assistant:
			open = slices.Clone(m.calls)
		case llm.ToolResult:
			at := m.answers(open)
			if at < 0 || m.shows() {
				c.asked = span{}
				continue
			}
			open = slices.Delete(open, at, at+1)
		}
	}
	switch {
	case c.asked == span{}, len(messages) == 0, messages[len(messages)-1].role != llm.ToolResult:
		return nil
	case asked != nil:
		return asked.texts()
	}
	m, err := decodeMessage(c.repeated()[c.asked.from:c.asked.to])
	if err != nil {
		return nil // it was read before
	}
	return m.texts()
}

// shows reports whether there is a picture in the message.
func (m *message) shows() bool {
	return slices.ContainsFunc(m.parts, func(p part) bool { return p.image != nil })
}

// saidLast are the texts that no prompt leaves out: of the user's last message, or of the results that a history ends with and of the
// call that they answer, which stay together, and of the question that they are for.
func saidLast(messages []message, question []string) []string {
	last := len(messages) - 1
	if last < 0 || messages[last].role == llm.Assistant {
		return nil
	}
	first := last + 1 // of the results
	for first > 0 && messages[first-1].role == llm.ToolResult {
		first--
	}
	if first > last || first == 0 {
		return messages[last].texts()
	}
	call := &messages[first-1]
	said, open := slices.Concat(question, call.texts()), slices.Clone(call.calls)
	for _, c := range call.calls {
		said = append(said, c.Name, c.Arguments)
	}
	for i := first; i <= last; i++ {
		m := &messages[i]
		at := m.answers(open)
		if at < 0 || m.shows() {
			return nil // a picture is shown as something of the user's; see drafting
		}
		open = slices.Delete(open, at, at+1)
		said = append(said, m.text())
	}
	return said
}

func (f *fitting) put(sum uint64, room int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.known) >= maxFitting {
		clear(f.known)
	}
	f.known[sum] = room
}
