// Package porttest finds loopback ports for tests of servers that go away and come back.
package porttest

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// The range lies below the ports that systems hand out to outgoing connections. A client that
// retries while the server restarts could otherwise be given the server's own port.
const (
	first = 15433
	last  = 32767
)

// Free returns a port of 127.0.0.1 that nobody listens on at the moment, and that no outgoing connection will have.
// Whoever binds it must be ready to ask for another: somebody else may have been faster.
func Free() (int, error) {
	for range 100 {
		port := first + rand.IntN(last-first+1)
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		return port, listener.Close()
	}
	return 0, errors.New("free loopback port: none found")
}

// Listen listens on such a port of 127.0.0.1.
func Listen() (net.Listener, error) {
	for {
		port, err := Free()
		if err != nil {
			return nil, err
		}
		if listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			return listener, nil
		}
	}
}
