package bus

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/pause"
	"github.com/turnstone-dev/turnstone/store"
)

// RelayConfig says how a relay works. The zero value is ready for use.
type RelayConfig struct {
	// Note writes, in the update that notes exports as published, what else is to be written about
	// them. It may run more than once. Defaults to nothing.
	Note func(ctx context.Context, tx store.Tx, exports []event.Export) error
	// Batch is how many exports are published at most in one round. Defaults to 512.
	Batch int
	// Idle is how often the outbox is looked at without being woken, for what other processes left
	// there. Defaults to one second.
	Idle time.Duration
	// Linger is how long the relay waits after it was woken, and after a round that took all there
	// was: commits that follow share its update and its trip to the disk. Defaults to 50 ms.
	Linger time.Duration
	// Backoff is how long the relay waits after a first error; the wait doubles with every further one
	// up to 256 times of it. Defaults to 100 ms.
	Backoff time.Duration
	// Log is told of errors. Defaults to nowhere.
	Log slog.Handler
}

// Relay publishes what waits in a store's outbox, as long as its bus is the one that publishes the store. Several of them may work on the same data: each
// session is in the hands of one at a time. It is safe for concurrent use.
type Relay struct {
	store store.Store
	bus   Bus
	cfg   RelayConfig
	log   *slog.Logger
	wake  chan struct{}
	// round holds the one token that a round of publishing needs.
	round chan struct{}
	// publisher is the bus that published the store when Run looked last.
	publisher string
	looked    time.Time
}

// lookEvery is how often a relay without anything to publish looks whether its bus still is the one that publishes.
const lookEvery = time.Minute

// NewRelay returns a relay from the outbox of st to b. Nothing happens before Run or Flush.
func NewRelay(st store.Store, b Bus, cfg RelayConfig) *Relay {
	if cfg.Batch <= 0 {
		cfg.Batch = 512
	}
	if cfg.Idle <= 0 {
		cfg.Idle = time.Second
	}
	if cfg.Linger <= 0 {
		cfg.Linger = 50 * time.Millisecond
	}
	if cfg.Backoff <= 0 {
		cfg.Backoff = 100 * time.Millisecond
	}
	r := &Relay{
		store: st, bus: b, cfg: cfg, log: Logger(cfg.Log),
		wake: make(chan struct{}, 1), round: make(chan struct{}, 1),
	}
	r.round <- struct{}{}
	r.publisher = b.Name()
	return r
}

// Logger returns a logger for a handler that may be nil.
func Logger(h slog.Handler) *slog.Logger {
	if h == nil {
		h = slog.DiscardHandler
	}
	return slog.New(h)
}

// TakeOver has the relay's bus publish the store from now on, and no other, in whichever process; see [event.BusRows]. It is for
// who was told to use that bus, and not for who uses the one inside the process since nothing else was said.
func (r *Relay) TakeOver(ctx context.Context) error {
	name := r.bus.Name()
	publishes, err := r.asked(ctx)
	if err != nil || publishes == name {
		return err
	}
	return r.store.Update(ctx, func(tx store.Tx) error { return tx.Outbox().SetBus(ctx, name) })
}

func (r *Relay) asked(ctx context.Context) (publisher string, err error) {
	err = r.store.View(ctx, func(tx store.Tx) (err error) {
		publisher, err = tx.Outbox().Bus(ctx)
		return err
	})
	return publisher, err
}

// look tells the log once when another bus publishes the store: nothing else would show that this relay has nothing to do.
func (r *Relay) look(ctx context.Context) {
	if time.Since(r.looked) < lookEvery {
		return
	}
	publisher, err := r.asked(ctx)
	if err != nil {
		return // publishing meets it too
	}
	r.looked = time.Now()
	if publisher != r.bus.Name() && publisher != r.publisher {
		r.log.LogAttrs(ctx, slog.LevelWarn, "another bus publishes the exports of the store",
			slog.String("bus", cmp.Or(publisher, "inside the process")))
	}
	r.publisher = publisher
}

// Wake says that there may be something to publish. It never blocks; calls that come while the relay
// is at work count as one.
func (r *Relay) Wake() {
	signal(r.wake)
}

// Run publishes until ctx ends or the store is closed. An error is logged and the round tried again
// after a growing delay. That another bus publishes the store is logged within a minute.
func (r *Relay) Run(ctx context.Context) {
	const doublings = 8
	for failures := 0; ; {
		sent, err := r.publish(ctx)
		switch {
		case ctx.Err() != nil || errors.Is(err, store.ErrClosed):
			return
		case err != nil:
			wait := r.cfg.Backoff << min(failures, doublings)
			failures++
			r.log.LogAttrs(ctx, slog.LevelWarn, "exports wait to be published",
				slog.Any("error", err), slog.Int("failures", failures), slog.Duration("retry_in", wait))
			pause.For(ctx, wait)
			continue
		}
		failures = 0
		switch {
		case sent == 0:
			r.look(ctx)
			r.rest(ctx)
		case sent < r.cfg.Batch:
			pause.For(ctx, r.cfg.Linger)
		}
	}
}

// rest waits until there may be something to publish.
func (r *Relay) rest(ctx context.Context) {
	idle := time.NewTimer(r.cfg.Idle)
	defer idle.Stop()
	select {
	case <-ctx.Done():
	case <-r.wake:
		pause.For(ctx, r.cfg.Linger)
	case <-idle.C:
	}
}

// Flush publishes all that waits now, except what another relay on the same data has in hand.
func (r *Relay) Flush(ctx context.Context) error {
	for {
		sent, err := r.publish(ctx)
		if err != nil || sent == 0 {
			return err
		}
	}
}

// publish makes one round. Rounds of one relay follow each other: a Flush that ran beside a round of
// Run would find its sessions taken and report that nothing waits.
func (r *Relay) publish(ctx context.Context) (int, error) {
	select {
	case <-r.round:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	defer func() { r.round <- struct{}{} }()
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	sent, err := r.store.Publish(ctx, r.cfg.Batch, store.Publication{
		Bus: r.bus.Name(), Bodies: r.bus.NeedsBodies(), Send: r.bus.Publish, Note: r.cfg.Note,
	})
	if sent > 0 {
		r.bus.Announce()
	}
	return sent, err
}
