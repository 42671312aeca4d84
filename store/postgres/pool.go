package postgres

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// maxAge closes connections now and then, so that a changed address or server is found.
	maxAge = time.Hour
	// maxIdle closes connections that a burst left behind.
	maxIdle = 10 * time.Minute
	// trusted is how long an idle connection is taken for alive.
	trusted = time.Minute
	// goodbye bounds what is said to a server that may not listen any more: a ping, a rollback, an end.
	goodbye = 5 * time.Second
)

// conn is a connection of the pool.
type conn struct {
	*pgx.Conn
	born, used time.Time
	losses     uint64 // how many losses the pool had seen when the connection last answered
}

// pool hands out connections, the last used first. It has no goroutine of its own but those that
// wait for the driver to finish a broken connection; close waits for them.
type pool struct {
	ctx    context.Context // Open's without its end, for what outlives every request
	config *pgx.ConnConfig
	slots  chan struct{} // holds one element for each connection that is handed out
	losses atomic.Uint64
	ending sync.WaitGroup

	// mu guards idle, which is ordered by the time of the last use.
	mu   sync.Mutex
	idle []*conn
}

func newPool(ctx context.Context, config *pgx.ConnConfig, size int) *pool {
	return &pool{ctx: context.WithoutCancel(ctx), config: config, slots: make(chan struct{}, size)}
}

// acquire waits for a connection. It must be given back with release.
func (p *pool) acquire(ctx context.Context) (*conn, error) {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for c := p.pop(); c != nil; c = p.pop() {
		if p.alive(ctx, c) {
			return c, nil
		}
		p.end(c)
		if err := ctx.Err(); err != nil {
			<-p.slots
			return nil, err
		}
	}
	losses := p.losses.Load()
	raw, err := pgx.ConnectConfig(ctx, p.config.Copy())
	if err != nil {
		<-p.slots
		return nil, err
	}
	now := time.Now()
	return &conn{Conn: raw, born: now, used: now, losses: losses}, nil
}

func (p *pool) pop() *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.idle) - 1
	if last < 0 {
		return nil
	}
	c := p.idle[last]
	p.idle = p.idle[:last]
	return c
}

// alive asks the server where there is a doubt: after a long rest, or when another connection broke
// since this one last answered, as they all do when the server restarts.
func (p *pool) alive(ctx context.Context, c *conn) bool {
	losses := p.losses.Load()
	if c.losses == losses && time.Since(c.used) < trusted {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, goodbye)
	defer cancel()
	if c.Ping(ctx) != nil {
		return false
	}
	c.losses = losses
	return true
}

// lost notes that a connection broke. Those that break together count once.
func (p *pool) lost(c *conn) { p.losses.CompareAndSwap(c.losses, c.losses+1) }

// release takes a connection back. One that is broken or in the middle of a transaction is ended.
func (p *pool) release(c *conn) {
	const outsideTransaction = 'I'
	now := time.Now()
	if c.IsClosed() || c.PgConn().TxStatus() != outsideTransaction || now.Sub(c.born) > maxAge {
		p.end(c)
		<-p.slots
		return
	}
	c.used = now
	p.mu.Lock()
	p.idle = append(p.idle, c)
	var stale *conn
	if now.Sub(p.idle[0].used) > maxIdle {
		stale = p.idle[0]
		p.idle = p.idle[1:]
	}
	p.mu.Unlock()
	<-p.slots
	if stale != nil {
		p.end(stale)
	}
}

// end closes a connection without waiting for it: a driver that broke off a statement tells the
// server so first.
func (p *pool) end(c *conn) {
	p.ending.Go(func() {
		ctx, cancel := context.WithTimeout(p.ctx, goodbye)
		defer cancel()
		if err := c.Close(ctx); err != nil {
			p.lost(c)
		}
		<-c.PgConn().CleanupDone()
	})
}

// close ends the idle connections. All others must have been released.
func (p *pool) close() {
	p.mu.Lock()
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, c := range idle {
		p.end(c)
	}
	p.ending.Wait()
}
