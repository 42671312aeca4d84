package llmtest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"syscall"
	"testing"
)

// Server is an HTTP server whose connections are in memory: inside a bubble of testing/synctest its time is the
// bubble's, and whatever a client leaves running fails the test.
type Server struct {
	// URL is its address for clients that use HTTP; there is nothing behind it for others.
	URL  string
	HTTP *http.Client

	conns  chan net.Conn
	closed chan struct{}

	mu     sync.Mutex // guards what follows
	dialed int
	refuse int
}

// Serve starts a server that is stopped when the test ends.
func Serve(t testing.TB, h http.Handler) *Server {
	t.Helper()
	s := &Server{URL: "http://model.test", conns: make(chan net.Conn), closed: make(chan struct{})}
	transport := &http.Transport{DialContext: s.dial}
	s.HTTP = &http.Client{Transport: transport}
	server := &http.Server{Handler: h}
	served := make(chan error)
	go func() { served <- server.Serve(s) }()
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return s
}

// Refuse has the next n connections refused, as by a machine where no server runs.
func (s *Server) Refuse(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = n
}

// Dialed is how many connections were asked for.
func (s *Server) Dialed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dialed
}

func (s *Server) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	s.mu.Lock()
	s.dialed++
	refused := s.refuse > 0
	if refused {
		s.refuse--
	}
	s.mu.Unlock()
	if refused {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	client, server := net.Pipe()
	select {
	case s.conns <- server:
		return client, nil
	case <-s.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements [net.Listener].
func (s *Server) Accept() (net.Conn, error) {
	select {
	case conn := <-s.conns:
		return conn, nil
	case <-s.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (s *Server) Close() error {
	close(s.closed)
	return nil
}

// Addr implements [net.Listener].
func (s *Server) Addr() net.Addr { return &net.TCPAddr{} }
