package turnstone

import (
	"sync"

	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/turn"
)

// projections keeps the prompts of sessions in use as far as they were compiled, so that the next one costs
// only what is new. The log is append-only and epochs are never changed, so that what is kept stays true
// whoever else writes.
type projections struct {
	limit int

	mu      sync.Mutex // guards entries
	entries map[turn.Key]*projectionEntry
}

type projectionEntry struct {
	mu         sync.Mutex         // held while a prompt is compiled
	projection *prompt.Projection // nil where there is none
}

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
		delete(p.entries, other)
	}
	e := &projectionEntry{}
	p.entries[key] = e
	return e
}
