package commit

import (
	"context"
	"sync"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// sessionLocks lets the exchanges of a session in one after the other, until it is closed.
type sessionLocks struct {
	mu     sync.Mutex // guards all below
	held   map[turn.Key]*sessionLock
	closed chan struct{} // made by close, closed when nobody is in any more
}

type sessionLock struct {
	users int           // who is in, and who waits
	next  chan struct{} // lets one in who waits; made by the first of them
}

// lock waits until nobody else commits to the session, or ctx ends. The error is store.ErrClosed from close on.
func (l *sessionLocks) lock(ctx context.Context, key turn.Key) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	next, err := l.enter(key)
	if next == nil {
		return err
	}
	select {
	case <-next:
		if l.isClosed() {
			l.unlock(key)
			return store.ErrClosed
		}
		return nil
	case <-ctx.Done():
		l.leave(key)
		return ctx.Err()
	}
}

// enter returns what to wait for, nil if nobody is in.
func (l *sessionLocks) enter(key turn.Key) (chan struct{}, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed != nil {
		return nil, store.ErrClosed
	}
	s := l.held[key]
	if s == nil {
		if l.held == nil {
			l.held = make(map[turn.Key]*sessionLock)
		}
		l.held[key] = &sessionLock{users: 1}
		return nil, nil
	}
	s.users++
	if s.next == nil {
		s.next = make(chan struct{}, 1)
	}
	return s.next, nil
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
		if l.closed != nil && len(l.held) == 0 {
			close(l.closed)
		}
		return nil
	}
	return s.next
}

// close lets nobody in any more, those who wait neither. What it returns is closed when all who are in have left.
func (l *sessionLocks) close() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed == nil {
		l.closed = make(chan struct{})
		if len(l.held) == 0 {
			close(l.closed)
		}
	}
	return l.closed
}

func (l *sessionLocks) isClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed != nil
}
