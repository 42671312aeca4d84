package commit

import (
	"context"
	"sync"

	"github.com/turnstone-dev/turnstone/turn"
)

// sessionLocks lets the exchanges of a session in one after the other.
type sessionLocks struct {
	mu   sync.Mutex // guards all below
	held map[turn.Key]*sessionLock
}

type sessionLock struct {
	users int           // who is in, and who waits
	next  chan struct{} // lets one in who waits; made by the first of them
}

// lock waits until nobody else commits to the session, or ctx ends.
func (l *sessionLocks) lock(ctx context.Context, key turn.Key) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	next := l.enter(key)
	if next == nil {
		return nil
	}
	select {
	case <-next:
		return nil
	case <-ctx.Done():
		l.leave(key)
		return ctx.Err()
	}
}

// enter returns what to wait for, nil if nobody is in.
func (l *sessionLocks) enter(key turn.Key) chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.held[key]
	if s == nil {
		if l.held == nil {
			l.held = make(map[turn.Key]*sessionLock)
		}
		l.held[key] = &sessionLock{users: 1}
		return nil
	}
	s.users++
	if s.next == nil {
		s.next = make(chan struct{}, 1)
	}
	return s.next
}

// unlock lets the next one in.
func (l *sessionLocks) unlock(key turn.Key) {
	if next := l.leave(key); next != nil {
		next <- struct{}{} // there is room: who is in has left, and only its next lets another in
	}
}

// leave returns what those who are left wait for, nil if there are none.
func (l *sessionLocks) leave(key turn.Key) chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.held[key]
	if s.users--; s.users == 0 {
		delete(l.held, key)
		return nil
	}
	return s.next
}
