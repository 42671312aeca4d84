package porttest_test

import (
	"net"
	"testing"

	"github.com/turnstone-dev/turnstone/internal/porttest"
)

// A port is free again after its listener is closed, and below those that systems hand out by themselves.
func TestListen(t *testing.T) {
	listener, err := porttest.Listen()
	if err != nil {
		t.Fatal(err)
	}
	where := listener.Addr().(*net.TCPAddr)
	if !where.IP.IsLoopback() || where.Port < 15433 || where.Port > 32767 {
		t.Errorf("it listens on %s", where)
	}
	if again, err := net.Listen("tcp", where.String()); err == nil {
		t.Errorf("another listens on %s too: %v", where, again.Close())
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestFree(t *testing.T) {
	seen := make(map[int]bool)
	for range 20 {
		port, err := porttest.Free()
		if err != nil || port < 15433 || port > 32767 {
			t.Fatalf("port %d: %v", port, err)
		}
		seen[port] = true
	}
	if len(seen) < 2 {
		t.Errorf("always the same: %v", seen)
	}
}
