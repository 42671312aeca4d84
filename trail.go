package turnstone

import (
	"sync"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// trails keeps the turns of exchanges under way as they are appended, whoever appends them, so that the commit
// need not read them. What another process may have appended is not in them: the store's generation says so.
type trails struct {
	store store.Store

	mu      sync.Mutex // guards what is below
	entries map[turn.Key]*trail
}

type trail struct {
	turns      []turn.Turn // from the one that opened the exchange on
	size       int64
	generation uint64
}

// maxTrail bounds the text of a trail. A longer one is read when it is committed: large results must not be held by
// many exchanges.
const maxTrail = 256 << 10

func newTrails(st store.Store) *trails {
	return &trails{store: st, entries: make(map[turn.Key]*trail)}
}

// begin keeps the turns that opened an exchange, inside the update that appends them.
func (t *trails) begin(tx store.Tx, key turn.Key, turns []turn.Turn) {
	generation, keep := t.store.Generation()
	tx.AfterCommit(func() {
		t.end(key)
		if keep {
			t.mu.Lock()
			t.entries[key] = &trail{generation: generation}
			t.mu.Unlock()
			t.push(key, turns)
		}
	})
}

// push follows an append. It is called in the order of the appends.
func (t *trails) push(key turn.Key, turns []turn.Turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.entries[key]
	if e == nil {
		return
	}
	for _, next := range turns {
		n := len(e.turns)
		if n > 0 && next.Seq <= e.turns[n-1].Seq {
			continue // an idempotent repeat
		}
		e.size += turn.Size(next)
		if n > 0 && next.Seq != e.turns[n-1].Seq+1 || n == commit.MaxTurns || e.size > maxTrail {
			delete(t.entries, key)
			return
		}
		e.turns = append(e.turns, next)
	}
}

// end returns the turns of an exchange that is over, from the one that opened it on; none where they are not known.
func (t *trails) end(key turn.Key) []turn.Turn {
	t.mu.Lock()
	e := t.entries[key]
	delete(t.entries, key)
	t.mu.Unlock()
	if generation, ok := t.store.Generation(); e == nil || !ok || generation != e.generation {
		return nil
	}
	return e.turns
}
