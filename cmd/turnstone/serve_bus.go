package main

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/bus/inproc"
	"github.com/turnstone-dev/turnstone/bus/natsbus"
	"github.com/turnstone-dev/turnstone/store"
)

const (
	envBus = "TURNSTONE_BUS"
	// busInside takes the exports of a store back from another bus.
	busInside = "inside"
)

// busSchemes are the ways to a NATS server.
var busSchemes = []string{"nats", "tls", "ws", "wss"}

// connected is a connection to NATS, or none.
type connected struct {
	nc     *nats.Conn
	stream string
	inside bool // said, and not for want of another
}

func (c connected) close() {
	if c.nc != nil {
		c.nc.Close()
	}
}

// connectBus connects to the bus that --bus or the environment name, for the stream that --bus-stream names.
func (a *app) connectBus(flag, stream string) (connected, error) {
	given := cmp.Or(flag, a.getenv(envBus))
	if given == "" || given == busInside {
		if stream != "" {
			return connected{}, usage("give a --bus too, or leave it out", "--bus-stream: there is no bus to have it on")
		}
		return connected{inside: given == busInside}, nil
	}
	if stream != "" {
		if err := natsbus.CheckStream(stream); err != nil {
			return connected{}, fmt.Errorf("--bus-stream: %w", err)
		}
	}
	a.protect(given)
	for server := range strings.SplitSeq(given, ",") {
		if u, err := url.Parse(strings.TrimSpace(server)); err != nil || u.Host == "" || !slices.Contains(busSchemes, u.Scheme) {
			a.protect("nats://" + server) // one without a scheme may hold a password too
			return connected{}, usage("give a URL such as nats://127.0.0.1:4222, or "+busInside, "--bus: %q is no address of a NATS server", server)
		}
	}
	nc, err := nats.Connect(given, nats.Name("turnstone"), nats.MaxReconnects(-1), nats.RetryOnFailedConnect(false))
	if err != nil {
		return connected{}, &advised{err: fmt.Errorf("--bus: %v: %w", a.shown(given), err), next: "start a NATS server with JetStream there, or leave it out"}
	}
	return connected{nc: nc, stream: stream}, nil
}

// use has the engine of a server on the store use the bus. The connection outlives the engine. A server that was told of no
// bus does not start where another one publishes: nobody would publish what it commits, or the daemons there get nothing.
func (c connected) use(ctx context.Context, st store.Store, config *turnstone.Config) error {
	switch {
	case c.nc != nil:
		config.Bus = func(bodies bus.Bodies, recorder bus.Recorder) (bus.Bus, error) {
			return natsbus.New(ctx, c.nc, bodies, recorder, natsbus.Config{Stream: c.stream, Log: config.Log})
		}
		return nil
	case c.inside:
		config.Bus = func(bodies bus.Bodies, recorder bus.Recorder) (bus.Bus, error) {
			return inproc.New(st, bodies, recorder, inproc.Config{Log: config.Log}), nil
		}
		return nil
	}
	var name string
	err := st.View(ctx, func(tx store.Tx) (err error) {
		name, err = tx.Outbox().Bus(ctx)
		return err
	})
	if err == nil && name != "" {
		err = usage("give its URL with --bus or "+envBus+", or --bus "+busInside+" to have this server take them back",
			"--bus: the exports of this store are published by the bus %s", name)
	}
	return err
}
