package dialogue

import (
	"context"
	"github.com/turnstone-dev/turnstone/internal/ids"
	"hash/maphash"
	"strings"
	"sync"
	"time"
)

// LightTimeout is how long a follow-up context is kept if nothing else is said.
const LightTimeout = 30 * time.Minute

// LightContext is the follow-up context of a session, what the seed's Conversation Context (Light)
// Manager keeps: just enough to know what "add that" or "update it" means. A nil pointer is null;
// the empty string is a value. PendingFields has no null, nil and empty are the same.
type LightContext struct {
	LastIntent      *string
	LastTaskID      *string
	PendingFields   []string
	LastUserMessage *string
}

// LightKey names the session a follow-up context belongs to.
type LightKey struct {
	Tenant  string
	Session string
}

// Check refuses a tenant or session that no session can have, with a *[FieldError].
func (k LightKey) Check() error {
	if err := ids.CheckName("tenant", k.Tenant); err != nil {
		return err
	}
	return ids.CheckName("session", k.Session)
}

// LightStore keeps the follow-up context of sessions for a while. What is stored and what is returned
// shares no memory with the caller's. It is safe for concurrent use.
type LightStore interface {
	// Store keeps c in place of what was kept for the session.
	Store(ctx context.Context, key LightKey, c LightContext) error
	// Retrieve returns what Store was given last, as it was. Where nothing was, or it was cleared, or
	// its time is over, ok is false.
	Retrieve(ctx context.Context, key LightKey) (c LightContext, ok bool, err error)
	// Clear forgets all four fields at once. To clear what is not there is no error.
	Clear(ctx context.Context, key LightKey) error
}

// LightRows is the follow-up context as a part of an update. A database that keeps it writes it with the rest;
// where it lives in memory it is kept once the update is durable. Nothing is read first: what others keep
// meanwhile is not lost. Where it cannot be written, the error of these methods or of the update is an [ErrNotKept], and
// nothing of the update is there.
type LightRows interface {
	// StoreLight keeps c in place of what was kept for the session.
	StoreLight(ctx context.Context, key LightKey, c LightContext) error
	// HearLight keeps the last message of the user. The other fields stay, unless their time is over.
	HearLight(ctx context.Context, key LightKey, message string) error
}

// lightShards spreads sessions over locks, so that they do not wait for each other.
const lightShards = 64

// lightSweep is how many expired entries one operation may throw away. More than one, so that they
// go faster than new ones come.
const lightSweep = 2

// Light is the [LightStore] in memory. It has no goroutine: each operation throws away a few entries
// whose time is over, so that what it holds is bounded by what was stored within the timeout.
// Contexts are never looked at, as nothing waits.
type Light struct {
	timeout time.Duration
	now     func() time.Time
	seed    maphash.Seed
	shards  [lightShards]lightShard
}

// NewLight returns an empty Light. The timeout, counted from the last Store, defaults to
// [LightTimeout], the clock to time.Now.
func NewLight(timeout time.Duration, now func() time.Time) *Light {
	if timeout <= 0 {
		timeout = LightTimeout
	}
	if now == nil {
		now = time.Now
	}
	return &Light{timeout: timeout, now: now, seed: maphash.MakeSeed()}
}

// Store implements [LightStore]. The error is that of [LightKey.Check].
func (l *Light) Store(_ context.Context, key LightKey, c LightContext) error {
	return l.change(key, func(*lightShard, time.Time) LightContext { return c })
}

// Hear keeps the last message of the user. The other fields stay, unless their time is over, and all of them are
// kept for as long as after Store. The error is that of [LightKey.Check].
func (l *Light) Hear(key LightKey, message string) error {
	return l.change(key, func(s *lightShard, now time.Time) (c LightContext) {
		if e := s.entries[key]; e != nil && !e.over(now) {
			c = e.context()
		}
		c.LastUserMessage = &message
		return c
	})
}

// change puts what next makes of a locked shard.
func (l *Light) change(key LightKey, next func(*lightShard, time.Time) LightContext) error {
	if err := key.Check(); err != nil {
		return err
	}
	now := l.now()
	s := l.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep(now)
	s.put(key, next(s, now), now.Add(l.timeout))
	return nil
}

// Retrieve implements [LightStore]. The error is that of [LightKey.Check].
func (l *Light) Retrieve(_ context.Context, key LightKey) (LightContext, bool, error) {
	if err := key.Check(); err != nil {
		return LightContext{}, false, err
	}
	now := l.now()
	s := l.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep(now)
	e := s.entries[key]
	if e == nil || e.over(now) {
		return LightContext{}, false, nil
	}
	return e.context(), true, nil
}

// Clear implements [LightStore]. The error is that of [LightKey.Check].
func (l *Light) Clear(_ context.Context, key LightKey) error {
	if err := key.Check(); err != nil {
		return err
	}
	now := l.now()
	s := l.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep(now)
	if e := s.entries[key]; e != nil {
		s.drop(e)
	}
	return nil
}

// Len returns how many contexts are held, those whose time is over but that nobody met yet
// included.
func (l *Light) Len() int {
	n := 0
	for i := range l.shards {
		s := &l.shards[i]
		s.mu.Lock()
		n += len(s.entries)
		s.mu.Unlock()
	}
	return n
}

func (l *Light) shard(key LightKey) *lightShard {
	return &l.shards[maphash.String(l.seed, key.Session)%lightShards]
}

// lightShard holds the sessions of one lock.
type lightShard struct {
	// mu guards what follows. Entries are linked in the order in which their time is over, which is
	// the order of their last Store.
	mu             sync.Mutex
	entries        map[LightKey]*lightEntry
	oldest, newest *lightEntry
}

func (s *lightShard) sweep(now time.Time) {
	for range lightSweep {
		if s.oldest == nil || !s.oldest.over(now) {
			return
		}
		s.drop(s.oldest)
	}
}

func (s *lightShard) put(key LightKey, c LightContext, expires time.Time) {
	e := s.entries[key]
	if e == nil {
		// A key cut out of a request must not keep the whole request alive.
		key = LightKey{Tenant: strings.Clone(key.Tenant), Session: strings.Clone(key.Session)}
		e = &lightEntry{key: key}
		if s.entries == nil {
			s.entries = make(map[LightKey]*lightEntry)
		}
		s.entries[key] = e
	} else {
		s.unlink(e)
	}
	e.set(c)
	e.expires = expires
	e.before = s.newest
	if s.newest != nil {
		s.newest.after = e
	} else {
		s.oldest = e
	}
	s.newest = e
}

func (s *lightShard) drop(e *lightEntry) {
	s.unlink(e)
	delete(s.entries, e.key)
}

func (s *lightShard) unlink(e *lightEntry) {
	if e.before != nil {
		e.before.after = e.after
	} else {
		s.oldest = e.after
	}
	if e.after != nil {
		e.after.before = e.before
	} else {
		s.newest = e.before
	}
	e.before, e.after = nil, nil
}
