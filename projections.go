package turnstone

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/turn"
)

// projections keeps the prompts of sessions in use as far as they were compiled, so that the next one costs
// only what is new. The log is append-only and epochs are never changed, so that what is kept stays true
// whoever else writes.
type projections struct {
	limit int

	mu      sync.Mutex // guards all below, and the size of every entry
	entries map[turn.Key]*projectionEntry
	size    int64
}

type projectionEntry struct {
	held       chan struct{}      // has room for who compiles a prompt, and guards projection and measured
	projection *prompt.Projection // nil where there is none
	size       int64
	measured   measured
	model      atomic.Value // name of the model that an exchange had it compiled for
}

// lock waits until nobody compiles with the entry, or ctx ends.
func (e *projectionEntry) lock(ctx context.Context) error {
	select {
	case e.held <- struct{}{}:
		return nil
	case <-ctx.Done():
		return llm.Ended(ctx)
	}
}

func (e *projectionEntry) unlock() { <-e.held }

// lastModel is which model the prompt was compiled for, empty where nobody noted it.
func (e *projectionEntry) lastModel() string {
	model, _ := e.model.Load().(string)
	return model
}

// measured is what was found to be held of the turns that left the prompts of an epoch, and in how many passes they did.
type measured struct {
	of                 measurement
	held, named, total int
	passes             int64
}

// measurement is what the answer depends on.
type measurement struct {
	epoch, from int64
	context     int
	model, mode string
}

// maxProjections bounds the text of all prompts that are kept: large windows of many sessions must not fill
// the memory.
const maxProjections = 256 << 20

func newProjections(limit int) *projections {
	return &projections{limit: limit, entries: make(map[turn.Key]*projectionEntry)}
}

// entry returns the session's entry, making room for a new one by dropping any other.
func (p *projections) entry(key turn.Key) *projectionEntry {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e, ok := p.entries[key]; ok {
		return e
	}
	for other := range p.entries {
		if len(p.entries) < p.limit {
			break
		}
		p.drop(other)
	}
	e := &projectionEntry{held: make(chan struct{}, 1)}
	p.entries[key] = e
	return e
}

// keep notes what the session's entry holds now, and drops others that there is no room for.
func (p *projections) keep(key turn.Key, e *projectionEntry, projection *prompt.Projection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.entries[key] != e {
		return // dropped meanwhile, and nobody will look for it
	}
	size := projection.Size()
	p.size += size - e.size
	e.projection, e.size = projection, size
	for other := range p.entries {
		if p.size <= maxProjections {
			break
		}
		p.drop(other)
	}
}

// drop forgets an entry. Whoever compiles with it now goes on. The caller holds mu.
func (p *projections) drop(key turn.Key) {
	p.size -= p.entries[key].size
	delete(p.entries, key)
}

// forget drops what is kept of a session. What is being compiled now is not kept.
func (p *projections) forget(key turn.Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.entries[key] != nil {
		p.drop(key)
	}
}
