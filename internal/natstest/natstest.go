// Package natstest gives tests a NATS server inside their process.
package natstest

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/turnstone-dev/turnstone/internal/porttest"
)

// patience is for machines that have much else to do.
const patience = 3 * time.Minute

// Server is a NATS server with JetStream that listens on a loopback port and can be started again with the same data.
// A test uses it from one goroutine.
type Server struct {
	t       testing.TB
	options server.Options
	running *server.Server
}

// Start starts a server with data of its own, which ends with the test: after everything that the test opens later.
func Start(t testing.TB) *Server {
	t.Helper()
	return start(t, true)
}

// StartWithoutJetStream is Start of a server that keeps nothing.
func StartWithoutJetStream(t testing.TB) *Server {
	t.Helper()
	return start(t, false)
}

func start(t testing.TB, jetStream bool) *Server {
	t.Helper()
	port, err := porttest.Free()
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{t: t, options: server.Options{
		JetStream: jetStream, StoreDir: t.TempDir(), Host: "127.0.0.1", Port: port, NoSigs: true, NoLog: true,
	}}
	s.Restart()
	t.Cleanup(s.Stop)
	return s
}

// URL is where the server listens. It stays the same over restarts.
func (s *Server) URL() string { return s.running.ClientURL() }

// Stop ends the server and returns when it is gone. Its data stays. Stopping a stopped server does nothing.
func (s *Server) Stop() {
	s.running.Shutdown()
	s.running.WaitForShutdown()
}

// Lose has a stopped server come back without a stream, or with what is below one: "NAME", "obs", "consumer".
func (s *Server) Lose(stream ...string) {
	s.t.Helper()
	path := filepath.Join(append([]string{s.options.StoreDir, "jetstream", "$G", "streams"}, stream...)...)
	if _, err := os.Stat(path); err != nil {
		s.t.Fatal(err)
	}
	if err := os.RemoveAll(path); err != nil {
		s.t.Fatal(err)
	}
}

// Restart starts a stopped server at the same URL.
func (s *Server) Restart() {
	s.t.Helper()
	options := s.options
	running, err := server.NewServer(&options)
	if err != nil {
		s.t.Fatal(err)
	}
	s.running = running
	running.Start()
	if !running.ReadyForConnections(patience) {
		s.t.Fatal("the NATS server does not come up")
	}
}
