package front

import (
	"context"
	"fmt"
	"hash/maphash"
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

// check refuses a call whose system messages and tools no prompt has room for, or with them what the user says last.
func (f *fitting) check(ctx context.Context, engine *turnstone.Engine, c *call, system []string, last *message) error {
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
	if last == nil || last.role != llm.User {
		return nil
	}
	said, size := last.texts(), around
	for _, text := range said {
		size += len(text) // a token has a byte at least
	}
	if size <= room {
		return nil
	}
	_, err := engine.Fits(ctx, c.model, c.context(), settings, said...)
	return err
}

func (f *fitting) put(sum uint64, room int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.known) >= maxFitting {
		clear(f.known)
	}
	f.known[sum] = room
}
