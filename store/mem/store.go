// Package mem is the store that keeps everything in memory: for tests, for trying things out, and
// as the reference that the databases are compared with. Nothing outlives the process.
//
// One lock guards all data. A view shares it and an update holds it alone, so that a transaction
// always sees one consistent state; an update that does not end well is undone step by step.
package mem

import (
	"context"
	"sync"
	"time"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/store"
)

// Config says how a store behaves. The zero value is ready for use.
type Config struct {
	// Clock tells the time of transactions. Defaults to time.Now.
	Clock func() time.Time
	// LightTimeout is how long a follow-up context is kept. Defaults to [dialogue.LightTimeout].
	LightTimeout time.Duration
}

// Store is a [store.Store] in memory. It is safe for concurrent use; a transaction inside a
// transaction waits for itself and never ends.
type Store struct {
	clock func() time.Time
	light *dialogue.Light
	// publishing holds a token while nobody publishes.
	publishing chan struct{}

	// mu guards what follows.
	mu     sync.RWMutex
	data   *data
	closed bool
	// turn is closed when the AfterCommit calls of the last update that had some are over.
	turn chan struct{}
}

var _ store.Store = (*Store)(nil)

// New returns an empty store.
func New(cfg Config) *Store {
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	first := make(chan struct{})
	close(first)
	s := &Store{
		clock:      cfg.Clock,
		light:      dialogue.NewLight(cfg.LightTimeout, cfg.Clock),
		publishing: make(chan struct{}, 1),
		data:       newData(),
		turn:       first,
	}
	s.publishing <- struct{}{}
	return s
}

// View implements [store.Store].
func (s *Store) View(ctx context.Context, fn func(store.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return store.ErrClosed
	}
	t := s.begin(false)
	defer t.end()
	return fn(t)
}

// Update implements [store.Store]. It never runs fn more than once.
func (s *Store) Update(ctx context.Context, fn func(store.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t, announce, err := s.apply(ctx, fn)
	if err != nil || len(t.after) == 0 {
		return err
	}
	announce(t.after)
	return nil
}

// apply runs fn under the lock. On success it also takes a place in the line of AfterCommit calls,
// which are made without the lock so that they may read the store.
func (s *Store) apply(ctx context.Context, fn func(store.Tx) error) (*tx, func([]func()), error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, nil, store.ErrClosed
	}
	t := s.begin(true)
	defer t.end()
	kept := false
	// Deferred, so that a panic of fn is undone too before it goes on in the caller.
	defer func() {
		if !kept {
			t.rollback(0)
		}
	}()
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if err := fn(t); err != nil {
		return nil, nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	kept = true
	if len(t.after) == 0 {
		return t, nil, nil
	}
	before, mine := s.turn, make(chan struct{})
	s.turn = mine
	return t, func(calls []func()) {
		defer close(mine)
		<-before
		for _, f := range calls {
			f()
		}
	}, nil
}

// Light implements [store.Store].
func (s *Store) Light() dialogue.LightStore { return s.light }

// Generation implements [store.Store]: nobody else can write to this memory.
func (s *Store) Generation() (uint64, bool) { return 0, true }

// IndexText implements [store.Store]. There is no index: see the comment on TextMark.
func (s *Store) IndexText(ctx context.Context) error {
	return s.View(ctx, func(store.Tx) error { return nil })
}

// Check implements [store.Store]. Memory is whole.
func (s *Store) Check(ctx context.Context) ([]string, error) {
	return nil, s.View(ctx, func(store.Tx) error { return nil })
}

// Close implements [store.Store]. Closing again changes nothing.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}
