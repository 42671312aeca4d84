package front

import (
	"context"
	"sync"

	"github.com/turnstone-dev/turnstone/turn"
)

// endings are exchanges whose client has gone and that are being committed: who comes back at once waits for that.
type endings struct {
	mu  sync.Mutex // guards all below
	now map[turn.Key]chan struct{}
}

// begin notes that the exchange of a session ends, until the function is called.
func (e *endings) begin(key turn.Key) (over func()) {
	done := make(chan struct{})
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.now == nil {
		e.now = map[turn.Key]chan struct{}{}
	}
	e.now[key] = done
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.now[key] == done {
			delete(e.now, key)
		}
		close(done)
	}
}

// wait waits for the end of a session's exchange whose client has gone, and reports whether there was one.
func (e *endings) wait(ctx context.Context, key turn.Key) bool {
	e.mu.Lock()
	done := e.now[key]
	e.mu.Unlock()
	if done == nil {
		return false
	}
	select {
	case <-done:
	case <-ctx.Done():
	}
	return true
}
