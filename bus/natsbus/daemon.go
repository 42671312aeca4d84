package natsbus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/internal/pause"
)

// daemon is one subscription. Its fields belong to its own goroutine, or to its keeper while it serves.
type daemon struct {
	bus     *Bus
	name    string
	handler bus.Handler
	options bus.Options
	holder  string

	held     bool
	through  uint64    // up to here all is acknowledged, as far as the bucket knows
	stream   time.Time // when the stream was made that through counts in
	revision uint64    // of the bucket's entry
	renewed  time.Time // the last sign of life
	seen     seen
}

const (
	// releaseGrace is what letting go of the daemon may take after the subscription's context ended.
	releaseGrace = 5 * time.Second
	// retryAfter is how long a daemon rests after an error.
	retryAfter = 250 * time.Millisecond
)

// run stands by until the daemon is free, serves while it is held, and begins again when it was lost.
func (d *daemon) run(ctx context.Context) error {
	for ctx.Err() == nil {
		if d.bus.nc.IsClosed() {
			return errors.New("the NATS connection is closed")
		}
		if !d.held {
			d.standBy(ctx)
			continue
		}
		err := d.serve(ctx)
		switch {
		case errors.Is(err, errLost):
			d.held = false
		case err != nil && ctx.Err() != nil:
			return errors.Join(err, d.letGo(ctx))
		case err != nil:
			pause.For(ctx, retryAfter)
		}
		if err != nil {
			d.warn(ctx, "the daemon begins anew", err)
		}
	}
	if d.held {
		return d.letGo(ctx)
	}
	return nil
}

func (d *daemon) standBy(ctx context.Context) {
	if !pause.For(ctx, d.bus.cfg.Poll) {
		return
	}
	if err := d.claim(ctx); err != nil && ctx.Err() == nil {
		d.warn(ctx, "the daemon cannot be taken over", err)
	}
}

func (d *daemon) warn(ctx context.Context, what string, err error) {
	d.bus.log.LogAttrs(ctx, slog.LevelWarn, what, slog.String("daemon", d.name), slog.Any("error", err))
}

// messages begins to pull for the daemon.
func (d *daemon) messages(ctx context.Context) (jetstream.MessagesContext, error) {
	consumer, err := d.consumer(ctx)
	if err != nil {
		return nil, fmt.Errorf("consumer: %w", err)
	}
	return consumer.Messages(jetstream.PullMaxMessagesWithBytesLimit(pullMessages, d.bus.pullBytes()), jetstream.PullHeartbeat(heartbeat))
}

// serve handles messages until ctx ends, the daemon is lost or what is delivered has a gap. When ctx
// ended, its error is about what could not be settled.
func (d *daemon) serve(ctx context.Context) error {
	messages, err := d.messages(ctx)
	if ctx.Err() != nil && messages == nil {
		return nil
	}
	if err != nil {
		return err
	}
	serving, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s := &service{daemon: d, pending: make(map[uint64]jetstream.Msg)}
	c := bus.NewConsumer(serving, d.name, d.handler, d.options, s.settle, d.bus.log)
	var keeper sync.WaitGroup
	keeper.Go(func() { d.keep(serving, func() { stop(errLost) }) })
	keeper.Go(func() { s.beat(serving, d.ackWait()/3) })
	failed := s.read(serving, c, messages)
	messages.Stop()
	err = c.Close()
	stop(nil)
	keeper.Wait()
	if errors.Is(context.Cause(serving), errLost) {
		return errLost
	}
	if ctx.Err() != nil {
		return err
	}
	return errors.Join(failed, err)
}

// keep gives signs of life until ctx ends. Where that was not possible for as long as the lease lasts,
// another may have taken over: the work is given up, also while the server does not answer.
func (d *daemon) keep(ctx context.Context, lost func()) {
	lease := d.bus.cfg.Lease
	for pause.For(ctx, min(lease/3, time.Until(d.renewed.Add(lease)))) {
		err := d.renewBy(ctx, d.renewed.Add(lease))
		switch {
		case err == nil || ctx.Err() != nil:
		case errors.Is(err, errLost) || time.Since(d.renewed) >= lease:
			lost()
			return
		default:
			d.warn(ctx, "the daemon's lease cannot be renewed", err)
		}
	}
}

func (d *daemon) renewBy(ctx context.Context, until time.Time) error {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	return d.renew(ctx)
}

func (d *daemon) ackWait() time.Duration { return d.options.Timeout + 30*time.Second }

// consumer makes the daemon's durable consumer anew, behind the last message that was acknowledged with
// all before it. That place is noted first: a crash between removing and making costs nothing, and who lost the
// daemon meanwhile makes none.
func (d *daemon) consumer(ctx context.Context) (jetstream.Consumer, error) {
	b, name := d.bus, durable(d.name)
	stream, err := b.streamInfo(ctx)
	if err != nil {
		return nil, err
	}
	if !d.stream.IsZero() && !d.stream.Equal(stream.Created) {
		d.through = 0 // the stream was made anew
	}
	old, err := b.js.Consumer(ctx, b.cfg.Stream, name)
	there := !errors.Is(err, jetstream.ErrConsumerNotFound)
	if there {
		if err != nil {
			return nil, err
		}
		d.through = max(d.through, old.CachedInfo().AckFloor.Stream)
	}
	if d.through > stream.State.LastSeq {
		d.through = 0 // the stream is another one than the daemon knew, or lost its end
	}
	d.stream = stream.Created
	if err := d.renew(ctx); err != nil {
		return nil, err
	}
	if there {
		if err := b.js.DeleteConsumer(ctx, b.cfg.Stream, name); err != nil {
			return nil, err
		}
	}
	return b.js.CreateConsumer(ctx, b.cfg.Stream, jetstream.ConsumerConfig{
		Durable:       name,
		Description:   "daemon " + d.name,
		FilterSubject: b.prefix + ".export.*.*",
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy,
		OptStartSeq:   d.through + 1,
		AckPolicy:     jetstream.AckExplicitPolicy,
		AckWait:       d.ackWait(),
		MaxAckPending: bus.MaxInFlight,
	})
}
