package front

import (
	"context"
	"fmt"
	"hash/maphash"
	"sync"

	"github.com/turnstone-dev/turnstone"
)

// fitting remembers what calls begin with that leaves room for a conversation: the tools of a client come with each of its calls,
// and are counted once. It is safe for concurrent use.
type fitting struct {
	seed maphash.Seed

	mu    sync.Mutex // guards all below
	known map[uint64]struct{}
}

// maxFitting bounds what is remembered. Then it is counted again.
const maxFitting = 4096

func newFitting() *fitting { return &fitting{seed: maphash.MakeSeed(), known: map[uint64]struct{}{}} }

// check refuses a call whose system messages and tools no prompt has room for.
func (f *fitting) check(ctx context.Context, engine *turnstone.Engine, c *call, system []string) error {
	settings := c.settings(system)
	var h maphash.Hash
	h.SetSeed(f.seed)
	for _, text := range []string{engine.Tenant(), c.model, fmt.Sprint(c.context()), settings.System, string(c.fields["tools"])} {
		maphash.WriteComparable(&h, text)
	}
	sum := h.Sum64()
	f.mu.Lock()
	_, known := f.known[sum]
	f.mu.Unlock()
	if known {
		return nil
	}
	if err := engine.Fits(ctx, c.model, c.context(), settings); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.known) >= maxFitting {
		clear(f.known)
	}
	f.known[sum] = struct{}{}
	return nil
}
