package natsbus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/internal/pause"
)

// recordAgain is when completions that could not be recorded come again.
const recordAgain = time.Second

// record begins to consume what daemons did. Processes share one consumer; order does not matter.
func (b *Bus) record(ctx context.Context) error {
	messages, err := b.completions(ctx)
	if err != nil {
		return err
	}
	b.recording = bus.Start(context.WithoutCancel(ctx), func(ctx context.Context) error {
		for {
			b.recordAll(ctx, messages)
			messages.Stop()
			// A consumer that was removed is made anew.
			for messages, err = nil, nil; messages == nil; messages, err = b.completions(ctx) {
				if err != nil {
					b.warn(ctx, err)
				}
				if !pause.For(ctx, recordAgain) || b.nc.IsClosed() {
					return nil
				}
			}
		}
	})
	return nil
}

func (b *Bus) completions(ctx context.Context) (jetstream.MessagesContext, error) {
	consumer, err := b.js.CreateOrUpdateConsumer(ctx, b.cfg.Stream, jetstream.ConsumerConfig{
		Durable:       "recorder",
		Description:   "what daemons did, for the traces",
		FilterSubject: b.prefix + ".done.*",
		AckPolicy:     jetstream.AckExplicitPolicy,
		AckWait:       30 * time.Second,
	})
	if err != nil {
		return nil, err
	}
	return consumer.Messages(jetstream.PullMaxMessages(pullMessages))
}

// recordAll records completions until ctx ends or there can come no more.
func (b *Bus) recordAll(ctx context.Context, messages jetstream.MessagesContext) {
	for {
		msg, err := messages.Next(jetstream.NextContext(ctx))
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, jetstream.ErrNoHeartbeat):
			continue
		case err != nil:
			b.warn(ctx, err)
			return
		}
		if err := b.recordOne(ctx, msg); err != nil {
			b.warn(ctx, err)
		}
	}
}

func (b *Bus) warn(ctx context.Context, err error) {
	b.log.LogAttrs(ctx, slog.LevelWarn, "what daemons did waits to be recorded", slog.Any("error", err))
}

func (b *Bus) recordOne(ctx context.Context, msg jetstream.Msg) error {
	var completions []bus.Completion
	if err := json.Unmarshal(msg.Data(), &completions); err != nil {
		// It will never be anything else.
		return fmt.Errorf("message on %s: %w", msg.Subject(), errors.Join(err, msg.TermWithReason("no list of completions")))
	}
	if err := b.recorder.Completed(ctx, completions); err != nil {
		return errors.Join(err, msg.NakWithDelay(recordAgain))
	}
	return msg.Ack()
}
