package natsbus

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/natstest"
)

// delivered is a message as the server delivers it, with what was answered.
type delivered struct {
	jetstream.Msg
	stream, consumer uint64
	acks, beats      int
}

func (d *delivered) Metadata() (*jetstream.MsgMetadata, error) {
	return &jetstream.MsgMetadata{Sequence: jetstream.SequencePair{Stream: d.stream, Consumer: d.consumer}}, nil
}
func (d *delivered) Subject() string      { return "turnstone.export.t.s" }
func (d *delivered) Headers() nats.Header { return nats.Header{HeaderExport: {"id"}} }
func (d *delivered) Data() []byte         { return nil }
func (d *delivered) Ack() error           { d.acks++; return nil }
func (d *delivered) InProgress() error    { d.beats++; return nil }

// deliveries is a list of messages, then silences, then the end.
type deliveries struct {
	jetstream.MessagesContext
	list     []*delivered
	silences int
	end      error
}

func (d *deliveries) Next(...jetstream.NextOpt) (jetstream.Msg, error) {
	if len(d.list) == 0 && d.silences > 0 {
		d.silences--
		return nil, jetstream.ErrNoHeartbeat
	}
	if len(d.list) == 0 {
		return nil, d.end
	}
	m := d.list[0]
	d.list = d.list[1:]
	return m, nil
}

var errEnd = errors.New("the end")

// read has a service read deliveries with a handler that never ends by itself.
func read(t *testing.T, s *service, list ...*delivered) (handled int, err error) {
	t.Helper()
	s.daemon = &daemon{bus: &Bus{prefix: "turnstone", log: bus.Logger(nil)}, name: "indexer"}
	o, err := bus.Options{}.WithDefaults()
	if err != nil {
		t.Fatal(err)
	}
	c := bus.NewConsumer(t.Context(), "indexer", func(ctx context.Context, _ event.Message) (int, error) {
		handled++
		<-ctx.Done()
		return 0, ctx.Err()
	}, o, func(context.Context, []bus.Settled) error { return nil }, bus.Logger(nil))
	err = s.read(t.Context(), c, &deliveries{list: list, end: errEnd})
	synctest.Wait()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return handled, err
}

func TestAMissingDeliveryEndsReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{pending: make(map[uint64]jetstream.Msg)}
		_, err := read(t, s, &delivered{stream: 5, consumer: 1}, &delivered{stream: 9, consumer: 2}, &delivered{stream: 12, consumer: 4})
		if err == nil || !strings.Contains(err.Error(), "delivery 3 is missing") {
			t.Errorf("got %v", err)
		}
		if len(s.pending) != 2 {
			t.Errorf("%d pending, want 2", len(s.pending))
		}
	})
}

func TestADeliveryThatComesAgainIsHandledOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{pending: make(map[uint64]jetstream.Msg)}
		first, again := &delivered{stream: 5, consumer: 1}, &delivered{stream: 5, consumer: 2}
		done := &delivered{stream: 4, consumer: 3} // its acknowledgement was lost
		handled, err := read(t, s, first, again, done)
		if !errors.Is(err, errEnd) || handled != 1 {
			t.Errorf("%v, handled %d times", err, handled)
		}
		if s.pending[5] != again || first.acks+again.acks != 0 || done.acks != 1 {
			t.Errorf("pending %v, acks %d %d %d", s.pending, first.acks, again.acks, done.acks)
		}
	})
}

func TestTheServerIsToldWhatIsWorkedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &delivered{stream: 5, consumer: 1}
		s := &service{pending: map[uint64]jetstream.Msg{5: m}}
		ctx, cancel := context.WithTimeout(t.Context(), 65*time.Second)
		defer cancel()
		s.beat(ctx, 20*time.Second)
		if m.beats != 3 {
			t.Errorf("%d signs of life in 65 s, want 3", m.beats)
		}
	})
}

// published counts what is published.
type published struct {
	jetstream.JetStream
	subjects []string
	fail     error
	most     int // bytes of a message; 0: any
	refusal  error
}

func (p *published) Publish(_ context.Context, subject string, data []byte, _ ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	if p.fail != nil {
		return nil, p.fail
	}
	if p.most > 0 && len(data) > p.most {
		return nil, p.refusal
	}
	p.subjects = append(p.subjects, subject)
	return &jetstream.PubAck{}, nil
}

// unacknowledged cannot be.
type unacknowledged struct{ delivered }

func (*unacknowledged) Ack() error { return errEnd }

// TestWhatWasReportedIsNotReportedAgain where only the acknowledgement failed: the trace would tell it twice.
func TestWhatWasReportedIsNotReportedAgain(t *testing.T) {
	js := &published{fail: errEnd}
	s := &service{
		daemon:  &daemon{bus: &Bus{js: js, prefix: "turnstone", log: bus.Logger(nil)}, name: "indexer"},
		pending: map[uint64]jetstream.Msg{1: &unacknowledged{}},
	}
	batch := []bus.Settled{{Message: event.Message{Number: 1}}}
	settle := func(want int) {
		t.Helper()
		if err := s.settle(t.Context(), batch); !errors.Is(err, errEnd) || len(js.subjects) != want {
			t.Errorf("%v, published %v, want %d", err, js.subjects, want)
		}
	}
	settle(0)
	js.fail = nil
	settle(1)
	settle(1)
	batch = append(batch, bus.Settled{Message: event.Message{Number: 2}}) // as when the consumer is closed
	settle(2)
}

// TestWhatIsReportedAgainIsInTheStreamOnce: each try leaves a copy with a client that has lost its server.
func TestWhatIsReportedAgainIsInTheStreamOnce(t *testing.T) {
	nc, err := nats.Connect(natstest.Start(t).URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	b, err := New(t.Context(), nc, nil, nil, Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	at := time.Now().UTC()
	report := func(name string, batch ...bus.Settled) {
		t.Helper()
		s := &service{daemon: &daemon{bus: b, name: name}}
		if err := s.report(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	done := bus.Settled{Completion: bus.Completion{Tenant: "t", ExportID: "1", Status: bus.OK, At: at}}
	dead := bus.Settled{Completion: bus.Completion{Tenant: "t", ExportID: "2", Status: bus.Dead, At: at}}
	later := done
	later.Completion.At = at.Add(time.Microsecond)
	for range 3 {
		report("one", done, dead)
		report("two", done, dead)
		report("one", later)
	}
	stream, err := b.streamInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// Two lists and a later one, and two dead letters.
	if stream.State.Msgs != 5 {
		t.Errorf("%d messages in the stream, want 5", stream.State.Msgs)
	}
}

// TestReportsFitTheServer: one that takes small messages only, or its stream, would keep the daemon from ever settling anything.
func TestReportsFitTheServer(t *testing.T) {
	for _, refusal := range []error{nats.ErrMaxPayload, jetstream.ErrStreamMessageExceedsMaximum} {
		js := &published{most: 16 << 10, refusal: refusal}
		s := &service{daemon: &daemon{bus: &Bus{js: js, prefix: "turnstone", log: bus.Logger(nil)}, name: "indexer"}}
		var batch []bus.Settled
		for range 2 * doneChunk {
			batch = append(batch, bus.Settled{Completion: bus.Completion{Status: bus.OK, Error: strings.Repeat("x", 2048)}})
		}
		if err := s.report(t.Context(), batch); err != nil || s.reported != len(batch) || len(js.subjects) < 16 {
			t.Errorf("%v, %d reported in %d messages", err, s.reported, len(js.subjects))
		}
		js.most = 1000
		if err := s.report(t.Context(), batch); !errors.Is(err, refusal) {
			t.Errorf("got %v for one that can never fit", err)
		}
	}
}
