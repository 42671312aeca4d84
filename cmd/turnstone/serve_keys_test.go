package main

import (
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestServeAsksForKeysOfAnyTenant(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted there")
	}
	store := filepath.Join(t.TempDir(), "store.db")
	mustRun(t, store, "--tenant", "acme", "key", "create", "a")
	s := serveProcess(t, store, "--keys", "--upstream", "http://127.0.0.1:1")
	if status, answer := s.post("/api/v1/sessions", `{"session_id":"x"}`); status != http.StatusUnauthorized {
		t.Errorf("without a key: %d %s", status, answer)
	}
	s.end(os.Interrupt)
}

func TestServedAtWhatWasTyped(t *testing.T) {
	for _, tt := range []struct{ addr, taken, want string }{
		{"127.0.0.1:0", "127.0.0.1:40123", "127.0.0.1:40123"},
		{"0.0.0.0:7411", "[::]:7411", "0.0.0.0:7411"},
		{"localhost:0", "127.0.0.1:40123", "localhost:40123"},
		{"[::1]:0", "[::1]:40123", "[::1]:40123"},
		{":7411", "[::]:7411", "[::]:7411"},
	} {
		taken := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(tt.taken))
		if got := servedAt(tt.addr, taken); got != tt.want {
			t.Errorf("%s: %s, not %s", tt.addr, got, tt.want)
		}
	}
}
