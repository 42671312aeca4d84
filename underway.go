package turnstone

import (
	"context"
	"sync"

	"github.com/turnstone-dev/turnstone/turn"
)

// underway are the sessions that a pass is being made for in the background.
type underway struct {
	mu   sync.Mutex // guards over
	over map[turn.Key]chan struct{}
}

// begin reports whether nobody else makes a pass for the session; done must be called then.
func (u *underway) begin(key turn.Key) (done func(), ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.over[key] != nil {
		return nil, false
	}
	if u.over == nil {
		u.over = make(map[turn.Key]chan struct{})
	}
	over := make(chan struct{})
	u.over[key] = over
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		delete(u.over, key)
		close(over)
	}, true
}

// wait returns when no pass is being made for the session, or ctx has ended.
func (u *underway) wait(ctx context.Context, key turn.Key) {
	u.mu.Lock()
	over := u.over[key]
	u.mu.Unlock()
	if over == nil {
		return
	}
	select {
	case <-over:
	case <-ctx.Done():
	}
}
