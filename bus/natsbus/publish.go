package natsbus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/event"
)

const (
	// inFlight is how many sessions' exports are on their way to the server at once.
	inFlight = 256
	// headerRoom is what the headers of an export take at most; they count as payload.
	headerRoom = 1024
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
	// TooLarge is the body's size in bytes where that is more than the server takes.
	TooLarge int `json:"too_large,omitempty"`
	// Unmade is why the body could not be made.
	Unmade string `json:"unmade,omitempty"`
}

var errNoBodies = errors.New("this bus only subscribes; give it bodies to publish")

// Publish implements [bus.Bus].
func (b *Bus) Publish(ctx context.Context, exports []event.Export) (int, error) {
	if err := b.open(); err != nil {
		return 0, err
	}
	if b.bodies == nil {
		return 0, errNoBodies
	}
	hydrator := bus.NewHydrator(b.bodies)
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
	m.Body, err = stub(m, Stub{Unmade: err.Error()})
	return []event.Message{m}, err
}

func stub(m event.Message, s Stub) ([]byte, error) {
	s.Tenant, s.Session, s.ExportID, s.TurnID = m.Tenant, m.Session, m.ID, m.TurnID
	return json.Marshal(s)
}

func id(tenant, exportID string) string { return tenant + "/" + exportID }

// send publishes messages, sessions side by side and each session's in order, and returns how many of
// them, from the first on, the server has.
func (b *Bus) send(ctx context.Context, messages []event.Message) (int, error) {
	type session struct{ tenant, name string }
	lines := make(map[session][]int)
	var order []session
	for i, m := range messages {
		key := session{m.Tenant, m.Session}
		if lines[key] == nil {
			order = append(order, key)
		}
		lines[key] = append(lines[key], i)
	}
	next := make(chan []int, len(order))
	for _, key := range order {
		next <- lines[key]
	}
	close(next)
	errs := make([]error, len(messages))
	var senders sync.WaitGroup
	for range min(inFlight, len(order)) {
		senders.Go(func() {
			for line := range next {
				b.sendLine(ctx, messages, line, errs)
			}
		})
	}
	senders.Wait()
	return b.count(messages, errs)
}

// sendLine publishes the messages of one session, each when the server has the one before.
func (b *Bus) sendLine(ctx context.Context, messages []event.Message, line []int, errs []error) {
	for at, i := range line {
		if err := b.sendOne(ctx, messages[i]); err != nil {
			for _, behind := range line[at:] {
				errs[behind] = err
			}
			return
		}
	}
}

func (b *Bus) sendOne(ctx context.Context, m event.Message) error {
	if b.isAhead(m) {
		return nil
	}
	body := m.Body
	if limit := int(b.nc.MaxPayload()) - headerRoom; len(body) > limit {
		var err error
		if body, err = stub(m, Stub{TooLarge: len(body)}); err != nil {
			return err
		}
	}
	_, err := b.js.PublishMsg(ctx, &nats.Msg{
		Subject: b.exportSubject(m),
		Header: nats.Header{
			nats.MsgIdHdr: {id(m.Tenant, m.ID)}, HeaderExport: {m.ID}, HeaderTurn: {m.TurnID},
		},
		Data: body,
	})
	if err != nil {
		return fmt.Errorf("publish export %s: %w", m.ID, err)
	}
	return nil
}

func (b *Bus) isAhead(m event.Message) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ahead[id(m.Tenant, m.ID)]
}

// count returns how many were sent up to the first error, and remembers the ones behind it: they come
// again, perhaps after the server has forgotten them.
func (b *Bus) count(messages []event.Message, errs []error) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	sent, failed := 0, error(nil)
	for i, m := range messages {
		switch {
		case errs[i] != nil:
			if failed == nil {
				failed = errs[i]
			}
		case failed == nil:
			delete(b.ahead, id(m.Tenant, m.ID))
			delete(b.unmade, id(m.Tenant, m.ID))
			sent++
		default:
			b.ahead[id(m.Tenant, m.ID)] = true
		}
	}
	return sent, failed
}
