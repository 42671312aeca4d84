// Package inproc is the bus inside the process: daemons read published exports from the store.
//
// It is durable because the outbox is. An export that a relay noted as published is itself the message;
// a daemon's mark in the same store says how far it has come. Marks are moved in batches, so that after
// a crash some messages come again. Who works for a daemon holds its mark under a lease of the store's
// clock: another process with the same daemon stands by and takes over when the lease runs out.
package inproc

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/store"
)

// Config says how a bus works. The zero value is ready for use.
type Config struct {
	// Lease is how long a daemon's mark is held without being renewed. Defaults to 15 seconds.
	Lease time.Duration
	// Poll is how often a daemon looks for what relays of other processes published, and how often one
	// that stands by looks whether the mark is free. Defaults to one second.
	Poll time.Duration
	// Log is told of retries, dead letters and errors, and of exports that were swept before a daemon saw them. Defaults to nowhere.
	Log slog.Handler
}

// Bus is a [bus.Bus] on a store's outbox.
type Bus struct {
	store    store.Store
	bodies   bus.Bodies
	recorder bus.Recorder
	cfg      Config
	log      *slog.Logger
	holders  *ids.Source
	daemons  bus.Roster[*daemon]
}

var _ bus.Bus = (*Bus)(nil)

// New returns a bus on the outbox of st, which must stay open until the bus is closed. A nil recorder
// keeps no completions, and no dead letters.
func New(st store.Store, bodies bus.Bodies, rec bus.Recorder, cfg Config) *Bus {
	if cfg.Lease <= 0 {
		cfg.Lease = 15 * time.Second
	}
	if cfg.Poll <= 0 {
		cfg.Poll = time.Second
	}
	return &Bus{
		store: st, bodies: bodies, recorder: rec, cfg: cfg, log: bus.Logger(cfg.Log),
		holders: ids.New(nil),
	}
}

// Name implements [bus.Bus].
func (b *Bus) Name() string { return "" }

// Publish implements [bus.Bus]. There is nothing to do: the export is the message as soon as it is noted.
func (b *Bus) Publish(ctx context.Context, exports []event.Export) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err := b.daemons.Open(); err != nil {
		return 0, err
	}
	return len(exports), nil
}

// NeedsBodies implements [bus.Bus]. Daemons read them from the store.
func (b *Bus) NeedsBodies() bool { return false }

// Announce implements [bus.Bus].
func (b *Bus) Announce() {
	b.daemons.Each(func(d *daemon) {
		select {
		case d.wake <- struct{}{}:
		default: // it is awake already
		}
	})
}

// Subscribe implements [bus.Bus].
func (b *Bus) Subscribe(ctx context.Context, name string, h bus.Handler, o bus.Options) (*bus.Subscription, error) {
	o, err := bus.Check(name, h, o)
	if err != nil {
		return nil, err
	}
	d := &daemon{
		bus: b, name: name, handler: h, options: o,
		holder: b.holders.Next(time.Now()), wake: make(chan struct{}, 1),
	}
	if err := b.daemons.Open(); err != nil {
		return nil, err
	}
	// Before it returns, so that a daemon that begins with what is new misses nothing published later.
	if err := d.claim(ctx); err != nil {
		return nil, fmt.Errorf("subscribe daemon %s: %w", name, err)
	}
	return b.daemons.Start(ctx, d, d.run)
}

// Close implements [bus.Bus]. Closing again changes nothing.
func (b *Bus) Close() error { return b.daemons.Close() }
