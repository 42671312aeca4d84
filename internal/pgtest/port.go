package pgtest

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// The range lies below the ports that systems hand out to outgoing connections. A client that
// retries while the server restarts could otherwise be given the server's own port.
const (
	firstPort = 15433
	lastPort  = 32767
)

// freePort returns a loopback port that nobody listens on at the moment.
func freePort() (int, error) {
	for range 100 {
		port := firstPort + rand.IntN(lastPort-firstPort+1)
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		return port, listener.Close()
	}
	return 0, errors.New("free loopback port for PostgreSQL: none found")
}
