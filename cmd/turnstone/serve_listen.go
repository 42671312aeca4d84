package main

import (
	"context"
	"net"
	"time"
)

const (
	// peerAsked is how often a connection on which nothing is said is asked whether somebody is still there, and
	// peerTries how often in vain until it is let go.
	peerAsked = 15 * time.Second
	peerTries = 4
	// peerSilent is for how long what was sent may stay without a sign that it arrived. A stream that tells that it lives
	// is never quiet, and is not asked: without this it would take a quarter of an hour to see that nobody hears it.
	peerSilent = peerAsked * peerTries
)

// listening takes an address. Its connections notice a client that is gone without a word.
func listening(ctx context.Context, addr string) (net.Listener, error) {
	config := net.ListenConfig{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: peerAsked, Interval: peerAsked, Count: peerTries},
		Control:         boundSilence,
	}
	return config.Listen(ctx, "tcp", addr)
}
