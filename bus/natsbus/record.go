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

const (
	// recorder is the consumer of completions.
	recorder = "recorder"
	// recordAgain is when completions that could not be recorded come again.
	recordAgain = time.Second
	// recordTries is how often completions are tried together that the store refuses; while it is away does not count.
	recordTries = 10
)

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
		Durable:       recorder,
		Description:   "what daemons did, for the traces",
		FilterSubject: b.prefix + ".done.*",
		AckPolicy:     jetstream.AckExplicitPolicy,
		AckWait:       30 * time.Second,
	})
	if err != nil {
		return nil, err
	}
	return consumer.Messages(jetstream.PullMaxMessages(pullMessages), jetstream.PullHeartbeat(heartbeat))
}

// recordAll records completions until ctx ends or there can come no more.
func (b *Bus) recordAll(ctx context.Context, messages jetstream.MessagesContext) {
	clear(b.refused) // another stream counts its messages anew
	for {
		msg, err := messages.Next(jetstream.NextContext(ctx))
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, jetstream.ErrNoHeartbeat):
			if err := b.gone(ctx, recorder); err != nil {
				b.warn(ctx, err)
				return
			}
			continue
		case err != nil:
			b.warn(ctx, err)
			return
		}
		if err := b.recordOne(ctx, msg); err != nil {
			b.warn(ctx, err)
			if bus.Away(err) { // the next message meets the same
				pause.For(ctx, recordAgain)
			}
		}
	}
}

func (b *Bus) warn(ctx context.Context, err error) {
	b.log.LogAttrs(ctx, slog.LevelWarn, "what daemons did waits to be recorded", slog.Any("error", err))
}

func (b *Bus) recordOne(ctx context.Context, msg jetstream.Msg) error {
	var completions []json.RawMessage
	if err := json.Unmarshal(msg.Data(), &completions); err != nil {
		// It will never be anything else.
		return fmt.Errorf("message on %s: %w", msg.Subject(), errors.Join(err, msg.TermWithReason("no list of completions")))
	}
	meta, err := msg.Metadata()
	if err != nil {
		return err
	}
	if err := b.recordThese(ctx, b.accept(ctx, msg, completions), meta.Sequence.Stream); err != nil {
		return errors.Join(err, msg.NakWithDelay(recordAgain))
	}
	delete(b.refused, meta.Sequence.Stream)
	return msg.Ack()
}

// accept leaves out what is no completion, or one of nothing this program knows. Whoever may publish may be a daemon in another
// language.
func (b *Bus) accept(ctx context.Context, msg jetstream.Msg, completions []json.RawMessage) []bus.Completion {
	accepted := make([]bus.Completion, 0, len(completions))
	for i, data := range completions {
		var c bus.Completion
		err := json.Unmarshal(data, &c)
		if err == nil {
			err = c.Check()
		}
		if err != nil {
			b.drop(ctx, fmt.Sprintf("completion %d on %s", i+1, msg.Subject()), err)
			continue
		}
		accepted = append(accepted, c.Foreign())
	}
	return accepted
}

// recordThese returns an error where the completions of a message are to come again. Ones that can never be recorded must not
// come for ever, nor take the others of their message with them: in the last try each is by itself.
func (b *Bus) recordThese(ctx context.Context, completions []bus.Completion, message uint64) error {
	err := b.recorder.Completed(ctx, completions)
	if err == nil || bus.Away(err) {
		return err
	}
	if b.refused[message]++; b.refused[message] < recordTries {
		return err
	}
	for _, c := range completions {
		err := b.recorder.Completed(ctx, []bus.Completion{c})
		if bus.Away(err) {
			return err
		}
		if err != nil {
			b.drop(ctx, "export "+c.ExportID+" of daemon "+c.Daemon, err)
		}
	}
	return nil
}

func (b *Bus) drop(ctx context.Context, what string, err error) {
	b.log.LogAttrs(ctx, slog.LevelError, "what a daemon did cannot be recorded and is left out", slog.String("of", what), slog.Any("error", err))
}
