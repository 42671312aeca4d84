package natsbus

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/pause"
)

// service is a daemon at work on one life of its consumer.
type service struct {
	daemon   *daemon
	reported int // how many of the batch that is being settled are

	mu      sync.Mutex // guards pending
	pending map[uint64]jetstream.Msg
}

// pullMessages is how many messages wait in the client at most; pullBytes bounds them further.
const pullMessages = 256

func (b *Bus) pullBytes() int { return max(8<<20, 2*int(b.nc.MaxPayload())) }

// doneChunk is how many completions travel in one message, fewer where the server takes small ones only.
const doneChunk = 64

// flushGrace is how long the server may take to see acknowledgements.
const flushGrace = 5 * time.Second

// read hands messages to the consumer until ctx ends or they cannot be read in order.
func (s *service) read(ctx context.Context, c *bus.Consumer, messages jetstream.MessagesContext) error {
	var delivered, highest uint64
	for {
		msg, err := messages.Next(jetstream.NextContext(ctx))
		if errors.Is(err, jetstream.ErrNoHeartbeat) {
			if err := s.daemon.bus.gone(ctx, durable(s.daemon.name)); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		meta, err := msg.Metadata()
		if err != nil {
			return err
		}
		if delivered++; meta.Sequence.Consumer != delivered {
			return fmt.Errorf("delivery %d is missing", delivered)
		}
		if meta.Sequence.Stream <= highest {
			if err := s.again(msg, meta.Sequence.Stream); err != nil {
				return err
			}
			continue
		}
		highest = meta.Sequence.Stream
		m, err := s.daemon.bus.message(msg, meta)
		if err != nil {
			return err
		}
		s.hold(m.Number, msg)
		if err := c.Take(ctx, bus.Delivery{Message: m}); err != nil {
			return err
		}
	}
}

// message reads an export's message.
func (b *Bus) message(msg jetstream.Msg, meta *jetstream.MsgMetadata) (event.Message, error) {
	tenant, session, err := b.parse(msg.Subject())
	if err != nil {
		return event.Message{}, err
	}
	return event.Message{
		Tenant: tenant, Session: session, ID: msg.Headers().Get(HeaderExport), TurnID: msg.Headers().Get(HeaderTurn),
		Number: int64(meta.Sequence.Stream), Body: msg.Data(),
	}, nil
}

func (s *service) hold(number int64, msg jetstream.Msg) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending[uint64(number)] = msg
}

// again meets a message that the server took for lost: its acknowledgement was, or is still to come.
func (s *service) again(msg jetstream.Msg, seq uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, running := s.pending[seq]; running {
		s.pending[seq] = msg
		return nil
	}
	return msg.Ack()
}

// settle tells what the daemon did, and acknowledges after that.
func (s *service) settle(ctx context.Context, batch []bus.Settled) error {
	if err := s.report(ctx, batch[s.reported:]); err != nil {
		return err
	}
	if err := s.acknowledge(ctx, batch); err != nil {
		return err
	}
	s.reported = 0
	return nil
}

func (s *service) acknowledge(ctx context.Context, batch []bus.Settled) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, done := range batch {
		seq := uint64(done.Message.Number)
		msg, held := s.pending[seq]
		if !held {
			continue
		}
		if err := msg.Ack(); err != nil {
			return err
		}
		delete(s.pending, seq)
	}
	// So that those who close the connection after the bus do not lose acknowledgements.
	ctx, cancel := context.WithTimeout(ctx, flushGrace)
	defer cancel()
	return s.daemon.bus.nc.FlushWithContext(ctx)
}

// report tells what the daemon did, up to the first error.
func (s *service) report(ctx context.Context, batch []bus.Settled) error {
	b, daemon := s.daemon.bus, Token(s.daemon.name)
	completions := make([]bus.Completion, len(batch))
	for i, done := range batch {
		completions[i] = done.Completion
	}
	for _, c := range completions {
		if c.Status != bus.Dead {
			continue
		}
		once := func([]byte) string { return "dead/" + s.daemon.name + "/" + id(c.Tenant, c.ExportID) }
		if err := b.publishJSON(ctx, b.prefix+".dead."+daemon, c, once); err != nil {
			return fmt.Errorf("dead letter: %w", err)
		}
	}
	for n := doneChunk; len(completions) > 0; {
		n = min(n, len(completions))
		err := b.publishJSON(ctx, b.prefix+".done."+daemon, completions[:n], s.doneID)
		if tooLarge(err) && n > 1 {
			n /= 2
			continue
		}
		if err != nil {
			return fmt.Errorf("completions: %w", err)
		}
		s.reported += n
		completions = completions[n:]
	}
	return nil
}

// doneID tells completions by what they hold: in an outage each try leaves a copy with the client, which sends them all when
// the server is back.
func (s *service) doneID(completions []byte) string {
	return fmt.Sprintf("done/%s/%x", s.daemon.name, sha256.Sum256(completions))
}

// publishJSON publishes once under the id that it is given for the JSON.
func (b *Bus) publishJSON(ctx context.Context, subject string, v any, id func(data []byte) string) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = b.js.Publish(ctx, subject, data, jetstream.WithMsgID(id(data)))
	return err
}

// beat tells the server that messages are being worked on, until ctx ends.
func (s *service) beat(ctx context.Context, every time.Duration) {
	for pause.For(ctx, every) {
		if err := s.inProgress(); err != nil {
			s.daemon.warn(ctx, "the server cannot be told that messages are worked on", err)
		}
	}
}

func (s *service) inProgress() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, msg := range s.pending {
		if err := msg.InProgress(); err != nil {
			return err
		}
	}
	return nil
}
