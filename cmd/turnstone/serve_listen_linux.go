package main

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// boundSilence has a listener's connections end that sent something for which no sign comes back. They have it from the
// listener.
func boundSilence(_, _ string, c syscall.RawConn) error {
	var failed error
	err := c.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(peerSilent.Milliseconds()))
	})
	return errors.Join(err, failed)
}
