package bus

import (
	"context"
	"sync"
)

// Roster is the daemons that a bus serves, until it is closed. It is for those who implement a [Bus]. The
// zero Roster is empty and open. It is safe for concurrent use.
type Roster[D comparable] struct {
	mu     sync.Mutex // guards all below
	closed bool
	at     map[D]*Subscription
}

// Open returns [ErrClosed] once the roster is closed.
func (r *Roster[D]) Open() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return ErrClosed
	}
	return nil
}

// Start serves a daemon as [Start] does, and knows it until run returns.
func (r *Roster[D]) Start(ctx context.Context, d D, run func(context.Context) error) (*Subscription, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, ErrClosed
	}
	if r.at == nil {
		r.at = make(map[D]*Subscription)
	}
	s := Start(ctx, func(ctx context.Context) error {
		defer r.forget(d)
		return run(ctx)
	})
	r.at[d] = s
	return s, nil
}

func (r *Roster[D]) forget(d D) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.at, d)
}

// Each calls f with every daemon that is served. It must not block.
func (r *Roster[D]) Each(f func(D)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for d := range r.at {
		f(d)
	}
}

// Close closes the roster and all its subscriptions. Closing again changes nothing.
func (r *Roster[D]) Close() error {
	r.mu.Lock()
	r.closed = true
	var open []*Subscription
	for _, s := range r.at {
		open = append(open, s)
	}
	r.mu.Unlock()
	return closeAll(open)
}
