package commit

import (
	"context"
	"sync"

	"github.com/turnstone-dev/turnstone/turn"
)

// sessionLocks lets the exchanges of a session in one after the other.
type sessionLocks struct {
	mu   sync.Mutex // guards held
	held map[turn.Key]*sessionLock
}

type sessionLock struct {
	free  chan struct{} // holds one value while nobody is in
	users int           // guarded by sessionLocks.mu
}

// lock waits until nobody else commits to the session, or ctx ends.
func (l *sessionLocks) lock(ctx context.Context, key turn.Key) (unlock func(), err error) {
	l.mu.Lock()
	if l.held == nil {
		l.held = make(map[turn.Key]*sessionLock)
	}
	s := l.held[key]
	if s == nil {
		s = &sessionLock{free: make(chan struct{}, 1)}
		s.free <- struct{}{}
		l.held[key] = s
	}
	s.users++
	l.mu.Unlock()
	leave := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if s.users--; s.users == 0 {
			delete(l.held, key)
		}
	}
	select {
	case <-s.free:
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
	return func() {
		s.free <- struct{}{}
		leave()
	}, nil
}
