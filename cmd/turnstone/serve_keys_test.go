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
	s := serveProcess(t, store, "--keys", "--url", "http://127.0.0.1:1")
	if status, answer := s.post("/api/v1/sessions", `{"session_id":"x"}`); status != http.StatusUnauthorized {
		t.Errorf("without a key: %d %s", status, answer)
	}
	s.end(os.Interrupt)
}

func TestServedAtWhatWasTyped(t *testing.T) {
	for _, tt := range []struct {
		addr, taken, want string
		everywhere        bool
	}{
		{"127.0.0.1:0", "127.0.0.1:40123", "127.0.0.1:40123", false},
		{"localhost:0", "127.0.0.1:40123", "localhost:40123", false},
		{"[::1]:0", "[::1]:40123", "[::1]:40123", false},
		{"0.0.0.0:0", "0.0.0.0:40123", "127.0.0.1:40123", true},
		{"[::]:7411", "[::]:7411", "127.0.0.1:7411", true},
		{":7411", "[::]:7411", "127.0.0.1:7411", true},
	} {
		taken := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(tt.taken))
		if got, everywhere := servedAt(tt.addr, taken); got != tt.want || everywhere != tt.everywhere {
			t.Errorf("%s: %s, everywhere %v; not %s, %v", tt.addr, got, everywhere, tt.want, tt.everywhere)
		}
	}
}
