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

// saidLast are the texts that no prompt leaves out: of the user's last message, or of the results that a history ends with and of the
// call that they answer, which stay together.
func saidLast(messages []message) []string {
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
	said, open := call.texts(), slices.Clone(call.calls)
	for _, c := range call.calls {
		said = append(said, c.Name, c.Arguments)
	}
	var behind []string // them, as something of the user's; see drafting
	shown := false
	for i := first; i <= last; i++ {
		m := &messages[i]
		at := m.answers(open)
		if at < 0 {
			behind = m.texts()
			continue
		}
		open = slices.Delete(open, at, at+1)
		said = append(said, m.text())
		shown = shown || slices.ContainsFunc(m.parts, func(p part) bool { return p.image != nil })
	}
	if shown || behind != nil {
		return behind
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
