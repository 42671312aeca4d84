package turnstone

import (
	"slices"
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
	turns      []turn.Turn // the first may be results that come before the exchange, of calls that were left open
	size       int64
	generation uint64
}

// maxTrail bounds the text of a trail. A longer one is read when it is committed: large results must not be held by
// many exchanges.
const maxTrail = 256 << 10

func newTrails(st store.Store) *trails {
	return &trails{store: st, entries: make(map[turn.Key]*trail)}
}

// begin keeps what is appended from here on in the update that opens an exchange, and after it.
func (t *trails) begin(tx store.Tx, key turn.Key) {
	generation, keep := t.store.Generation()
	tx.AfterCommit(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.entries, key)
		if keep {
			t.entries[key] = &trail{generation: generation}
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
func (t *trails) end(key turn.Key, opened string) []turn.Turn {
	e := t.drop(key)
	if generation, ok := t.store.Generation(); e == nil || !ok || generation != e.generation {
		return nil
	}
	first := slices.IndexFunc(e.turns, func(t turn.Turn) bool { return t.ID == opened })
	if first < 0 {
		return nil
	}
	return e.turns[first:]
}

// drop keeps no more of a session's exchange, and returns what was kept.
func (t *trails) drop(key turn.Key) *trail {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.entries[key]
	delete(t.entries, key)
	return e
}
