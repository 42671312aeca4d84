package main

import (
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// A client that is gone without a word, asleep or behind a cable that was pulled, is noticed: while nothing is said to it,
// and while something is.
func TestServeNoticesClientsThatVanish(t *testing.T) {
	listener, err := listening(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]int)
	err = raw.Control(func(fd uintptr) {
		for name, option := range map[string][2]int{
			"asks": {unix.SOL_SOCKET, unix.SO_KEEPALIVE}, "after seconds": {unix.IPPROTO_TCP, unix.TCP_KEEPIDLE},
			"every seconds": {unix.IPPROTO_TCP, unix.TCP_KEEPINTVL}, "times": {unix.IPPROTO_TCP, unix.TCP_KEEPCNT},
			"silent for milliseconds": {unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT},
		} {
			value, err := unix.GetsockoptInt(int(fd), option[0], option[1])
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			got[name] = value
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"asks": 1, "after seconds": 15, "every seconds": 15, "times": 4, "silent for milliseconds": 60_000}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
