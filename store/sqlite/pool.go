package sqlite

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// pool lends read connections, the one that was used last first: its cache is warm.
type pool struct {
	open  func() (*lite.Conn, error)
	slots chan struct{} // holds a token for each connection that may be lent

	// mu guards what follows.
	mu     sync.Mutex
	idle   []*lite.Conn
	closed bool
}

func newPool(size int, open func() (*lite.Conn, error)) *pool {
	p := &pool{open: open, slots: make(chan struct{}, size)}
	for range size {
		p.slots <- struct{}{}
	}
	return p
}

// take lends a connection, waiting for one if all are lent.
func (p *pool) take(ctx context.Context) (*lite.Conn, error) {
	select {
	case <-p.slots:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		p.slots <- struct{}{}
		return nil, store.ErrClosed
	}
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return c, nil
	}
	p.mu.Unlock()
	c, err := p.open()
	if err != nil {
		p.slots <- struct{}{}
		return nil, err
	}
	return c, nil
}

// give takes a connection back.
func (p *pool) give(c *lite.Conn) {
	p.add(c)
	p.slots <- struct{}{}
}

// add puts in a connection that was opened elsewhere.
func (p *pool) add(c *lite.Conn) {
	p.mu.Lock()
	p.idle = append(p.idle, c)
	p.mu.Unlock()
}

// hold lends nothing until it is let go. It waits for what is lent, but not for who keeps it for longer.
func (p *pool) hold(wait time.Duration) (letGo func()) {
	enough := time.NewTimer(wait)
	defer enough.Stop()
	held := 0
	for waiting := true; waiting && held < cap(p.slots); {
		select {
		case <-p.slots:
			held++
		case <-enough.C:
			waiting = false
		}
	}
	return func() {
		for range held {
			p.slots <- struct{}{}
		}
	}
}

// close waits for all that is lent and closes it.
func (p *pool) close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	for range cap(p.slots) {
		<-p.slots
	}
	var errs []error
	for _, c := range p.idle {
		errs = append(errs, c.Close())
	}
	p.idle = nil
	// Whoever still asks is told that the store is closed.
	for range cap(p.slots) {
		p.slots <- struct{}{}
	}
	return errors.Join(errs...)
}

func (p *pool) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}
