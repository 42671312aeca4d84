package main

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/netip"
	"syscall"
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

// listen takes the address of --addr.
func (a *app) listen(ctx context.Context, addr string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, usage("give a host and a port such as "+defaultAddr, "--addr: %q is no address", addr)
	}
	if _, err := net.DefaultResolver.LookupPort(ctx, "tcp", port); err != nil {
		return nil, usage("give one from 1 to 65535, or 0 for one that is free", "--addr: %q is no port", port)
	}
	listener, err := listening(ctx, addr)
	switch {
	case err == nil:
		return listener, nil
	case as[*net.DNSError](err):
		return nil, usage("give an address of this machine such as "+defaultAddr, "--addr: no host %q is known", host)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, usage("give one that it has, such as "+defaultAddr, "--addr: %s is no address of this machine", host)
	case errors.Is(err, fs.ErrPermission):
		return nil, usage("give a port above 1023, or allow this user to", "--addr: this user may not listen on %s", addr)
	}
	return nil, usage("end what listens there, or give another --addr", "--addr: %v", err)
}

// servedAt is where a browser on this machine finds the server: the address that was given, with the port that was taken.
// It also says whether the server listens on every address of the machine, none of which the given one names.
func servedAt(addr string, taken net.Addr) (at string, everywhere bool) {
	host, _, err := net.SplitHostPort(addr)
	_, port, taking := net.SplitHostPort(taken.String())
	if err != nil || taking != nil {
		return taken.String(), false
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", port), true
	}
	return net.JoinHostPort(host, port), false
}
