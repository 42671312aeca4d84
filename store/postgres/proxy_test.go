package postgres_test

import (
	"errors"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
)

// proxy stands between a store and its database, counts round trips and cuts the line at chosen
// moments.
type proxy struct {
	listener net.Listener
	server   string
	running  sync.WaitGroup
	trips    atomic.Int64
	cut      atomic.Int32

	// mu guards open.
	mu   sync.Mutex
	open map[net.Conn]struct{}
}

// What cut is set to.
const (
	cutNothing int32 = iota
	cutQuestion
	cutAnswer
)

// newProxy returns a proxy to the database of a URL, and the URL through it.
func newProxy(t testing.TB, address string) (*proxy, string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: listener, open: make(map[net.Conn]struct{})}
	through := with(t, address, func(u *url.URL) {
		p.server = u.Host
		u.Host = listener.Addr().String()
	})
	p.running.Go(p.accept)
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
		p.hangUp()
		p.running.Wait()
	})
	return p, through
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.server)
		if err != nil {
			closeAll(client)
			continue
		}
		p.mu.Lock()
		p.open[client] = struct{}{}
		p.mu.Unlock()
		var asking atomic.Bool
		p.running.Go(func() {
			p.pump(client, server, cutQuestion, func() {
				if !asking.Swap(true) {
					p.trips.Add(1)
				}
			})
			closeAll(client, server)
		})
		p.running.Go(func() {
			p.pump(server, client, cutAnswer, func() { asking.Store(false) })
			closeAll(client, server)
			p.mu.Lock()
			delete(p.open, client)
			p.mu.Unlock()
		})
	}
}

// pump copies until one end is closed, or what it is about to hand on is to be cut.
func (p *proxy) pump(from, to net.Conn, cut int32, pass func()) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if p.cut.CompareAndSwap(cut, cutNothing) {
				return
			}
			pass()
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// hangUp breaks all connections.
func (p *proxy) hangUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.open {
		closeAll(c)
	}
}

// count returns how many round trips fn makes.
func (p *proxy) count(fn func()) int64 {
	before := p.trips.Load()
	fn()
	return p.trips.Load() - before
}

func closeAll(conns ...net.Conn) {
	for _, c := range conns {
		if err := c.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			panic(err)
		}
	}
}
