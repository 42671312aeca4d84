package turnstone

import (
	"sync"
	"time"

	"github.com/turnstone-dev/turnstone/access"
)

const (
	// callerFresh is for how long a key is taken for what it was, and callerStale for how long while one of those who
	// ask has gone to look.
	callerFresh = time.Second
	callerStale = 2 * time.Second
	// callerUnknown is for how long an id is taken for one that no key has. A key that another replica makes meanwhile has
	// one that nobody has shown yet.
	callerUnknown = time.Second
	// maxCallers bounds how many keys are kept in mind, and how many that are none.
	maxCallers = 10_000
)

// callers are the keys that were shown lately. It is safe for concurrent use.
type callers struct {
	clock func() time.Time

	mu      sync.Mutex // guards what follows
	changes uint64     // how often a key was forgotten
	seen    map[string]seenKey
	none    map[string]time.Time // ids of no key, by when that was seen
}

type seenKey struct {
	access.Key
	at      time.Time
	looking bool // somebody has gone to look whether it is still good
}

func newCallers(clock func() time.Time) *callers {
	return &callers{clock: clock, seen: make(map[string]seenKey), none: make(map[string]time.Time)}
}

// known returns a key that was read a moment ago. Where ok is false it must be read, and learned or forgotten then.
func (c *callers) known(id string) (k access.Key, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, there := c.seen[id]
	age := c.clock().Sub(s.at)
	switch {
	// A clock that went back says nothing about how old it is.
	case !there || age < 0 || age >= callerStale || age >= callerFresh && !s.looking:
		if there {
			s.looking = true
			c.seen[id] = s
		}
		return access.Key{}, false
	}
	return s.Key, true
}

// changed is to be asked before a key is read that is learned then.
func (c *callers) changed() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changes
}

// learn notes a key as it was read after that many changes. One that was forgotten meanwhile may be another by now.
func (c *callers) learn(k access.Key, changes uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changes != changes {
		return
	}
	if len(c.seen) >= maxCallers {
		clear(c.seen)
	}
	c.seen[k.ID] = seenKey{Key: k, at: c.clock()}
}

func (c *callers) forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	delete(c.seen, id)
}

// unknown reports whether an id was that of no key a moment ago.
func (c *callers) unknown(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, there := c.none[id]
	age := c.clock().Sub(at)
	return there && age >= 0 && age < callerUnknown
}

// miss notes that no key has an id.
func (c *callers) miss(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.none) >= maxCallers {
		clear(c.none)
	}
	delete(c.seen, id)
	c.none[id] = c.clock()
}
