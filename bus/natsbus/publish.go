package natsbus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/event"
)

const (
	// headerRoom is what the headers of an export take at most; they count as payload.
	headerRoom = 1024
	// reasonRoom is how much of the reason a stub tells why a body could not be made, in bytes.
	reasonRoom = 1024
	// bodyTries is how often the body of an export is asked for before a stub takes its place.
	bodyTries = 4
)

// Stub is the body of a message whose export could not be sent whole. The export itself is in the
// outbox under its id.
type Stub struct {
	Tenant   string `json:"tenant"`
	Session  string `json:"session"`
	ExportID string `json:"export_id"`
	TurnID   string `json:"turn_id"`
	// TooLarge is the body's size in bytes where that is more than the server or the stream takes.
	TooLarge int `json:"too_large,omitempty"`
	// Unmade is why the body could not be made.
	Unmade string `json:"unmade,omitempty"`
}

var errNoBodies = errors.New("this bus only subscribes; give it bodies to publish")

// Publish implements [bus.Bus].
func (b *Bus) Publish(ctx context.Context, exports []event.Export) (int, error) {
	if err := b.served.Open(); err != nil {
		return 0, err
	}
	if b.bodies == nil {
		return 0, errNoBodies
	}
	select {
	case hydrator := <-b.hydrator:
		defer func() { b.hydrator <- hydrator }()
		sent, err := b.publish(ctx, hydrator, exports)
		if nobody(err) {
			err = errors.Join(err, b.makeStream(ctx)) // for the next round
		}
		return sent, err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (b *Bus) publish(ctx context.Context, hydrator *bus.Hydrator, exports []event.Export) (int, error) {
	if err := b.beginRound(ctx); err != nil {
		return 0, err
	}
	sent := 0
	for sent < len(exports) {
		messages, err := b.hydrate(ctx, hydrator, exports[sent:])
		if err != nil {
			return sent, err
		}
		n, err := b.send(ctx, messages)
		sent += n
		if err != nil {
			return sent, err
		}
	}
	return sent, nil
}

// beginRound looks whether the stream is still the one that has what must not be published again.
func (b *Bus) beginRound(ctx context.Context) error {
	b.mu.Lock()
	b.ahead.begin()
	nothing := b.ahead.empty()
	b.mu.Unlock()
	if nothing {
		return nil
	}
	stream, err := b.streamInfo(ctx)
	switch {
	case err == nil:
		b.streamMade(stream.Created)
	case errors.Is(err, jetstream.ErrStreamNotFound):
		b.streamMade(time.Time{}) // who publishes finds that there is none
	default:
		return fmt.Errorf("stream %s: %w", b.cfg.Stream, err)
	}
	return nil
}

// hydrate returns the messages of the first exports, at least one.
func (b *Bus) hydrate(ctx context.Context, h *bus.Hydrator, exports []event.Export) ([]event.Message, error) {
	messages, err := h.Next(ctx, exports)
	first := exports[0]
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		delete(b.unmade, id(first.Tenant, first.ID))
		return messages, nil
	}
	if bus.Away(err) {
		return nil, fmt.Errorf("bodies of exports: %w", err)
	}
	// One export that can never be made must not keep all others waiting for ever.
	b.unmade[id(first.Tenant, first.ID)]++
	if b.unmade[id(first.Tenant, first.ID)] < bodyTries {
		return nil, fmt.Errorf("body of export %s: %w", first.ID, err)
	}
	m := event.Message{Tenant: first.Tenant, Session: first.Session, ID: first.ID, TurnID: first.TurnID}
	m.Body, err = stub(m, Stub{Unmade: cut(err.Error(), reasonRoom)})
	return []event.Message{m}, err
}

// small is the stub in the place of a message that is too large, which may be the stub of a body that could not be made.
func (b *Bus) small(m event.Message) ([]byte, error) {
	b.mu.Lock()
	unmade := b.unmade[id(m.Tenant, m.ID)] >= bodyTries
	b.mu.Unlock()
	if unmade {
		return stub(m, Stub{Unmade: "the reason is too large as well; see the log of the engine"})
	}
	return stub(m, Stub{TooLarge: len(m.Body)})
}

// cut returns the first bytes of a text, without a part of a letter.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-len("…")], "") + "…"
}

func stub(m event.Message, s Stub) ([]byte, error) {
	s.Tenant, s.Session, s.ExportID, s.TurnID = m.Tenant, m.Session, m.ID, m.TurnID
	return json.Marshal(s)
}

func id(tenant, exportID string) string { return tenant + "/" + exportID }
