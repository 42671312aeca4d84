package observe

import (
	"context"
	"sync"
	"time"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

const (
	// probeEvery is how old the answer of a probe may be.
	probeEvery = 3 * time.Second
	// probeTime is how long a probe may take. It goes on when whoever asked does not wait for it any more.
	probeTime = 30 * time.Second
	// failedFor is how long an update that failed counts. A full disk often has room for a probe and for nothing larger.
	failedFor = 5 * time.Second
)

// Store is a store that knows whether it takes updates.
type Store struct {
	store.Store

	running sync.WaitGroup // a probe

	mu       sync.Mutex // guards what follows
	failed   error      // why an update failed last that nobody should try again
	failedAt time.Time
	probing  chan struct{} // closed when the probe under way is over, nil where none is
	found    error         // by the last probe
	probedAt time.Time
}

// NewStore returns the store, watched.
func NewStore(st store.Store) *Store { return &Store{Store: st} }

// Update implements [store.Store].
func (s *Store) Update(ctx context.Context, fn func(store.Tx) error) error {
	err := s.Store.Update(ctx, fn)
	if store.Lasting(err) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.failed, s.failedAt = err, time.Now()
	}
	return err
}

// Close implements [store.Store].
func (s *Store) Close() error {
	defer s.running.Wait()
	return s.Store.Close()
}

// Ready returns nil if the store takes updates: none failed a moment ago for a reason that stays, and a small one becomes
// durable, which is tried every few seconds at most. Otherwise it returns why it does not.
func (s *Store) Ready(ctx context.Context) error {
	s.mu.Lock()
	if s.failed != nil && time.Since(s.failedAt) < failedFor {
		defer s.mu.Unlock()
		return s.failed
	}
	if !s.probedAt.IsZero() && time.Since(s.probedAt) < probeEvery {
		defer s.mu.Unlock()
		return s.found
	}
	if s.probing == nil {
		s.probing = make(chan struct{})
		s.running.Go(func() { s.probe(context.WithoutCancel(ctx)) })
	}
	over, before := s.probing, s.found
	s.mu.Unlock()
	select {
	case <-over:
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.found
	case <-ctx.Done():
		if before != nil { // it is most likely the same again
			return before
		}
		return ctx.Err()
	}
}

// probe makes an update that is written to the disk and leaves nothing: the lease of a session that cannot be.
func (s *Store) probe(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	nobody := turn.Key{Session: "readyz"}
	err := s.Store.Update(ctx, func(tx store.Tx) error {
		if err := tx.Log().SetLease(ctx, nobody, turn.Lease{Token: "readyz", Until: tx.Now()}); err != nil {
			return err
		}
		return tx.Log().SetLease(ctx, nobody, turn.Lease{})
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.found, s.probedAt = err, time.Now()
	close(s.probing)
	s.probing = nil
}
