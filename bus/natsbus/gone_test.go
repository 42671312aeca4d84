package natsbus

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/natstest"
)

// asked is a server that is asked for consumers.
type asked struct {
	jetstream.JetStream
	answer error
	names  []string
}

func (a *asked) Consumer(_ context.Context, stream, name string) (jetstream.Consumer, error) {
	a.names = append(a.names, stream+"/"+name)
	return nil, a.answer
}

// TestWhereTheServerIsSilentItsConsumerIsLookedFor, by a daemon and by who records.
func TestWhereTheServerIsSilentItsConsumerIsLookedFor(t *testing.T) {
	for _, test := range []struct {
		answer error
		gone   bool
	}{
		{nil, false}, {context.DeadlineExceeded, false}, {nats.ErrDisconnected, false},
		{jetstream.ErrConsumerNotFound, true}, {jetstream.ErrStreamNotFound, true}, {nats.ErrNoResponders, true},
	} {
		js := &asked{answer: test.answer}
		b := &Bus{js: js, cfg: Config{Stream: "S"}, log: bus.Logger(nil)}
		s := &service{daemon: &daemon{bus: b, name: "indexer"}}
		silence := func() *deliveries { return &deliveries{silences: 3, end: errEnd} }
		want, looks := errEnd, 3
		if test.gone {
			want, looks = test.answer, 1
		}
		if err := s.read(t.Context(), nil, silence()); !errors.Is(err, want) || len(js.names) != looks || js.names[0] != "S/daemon-indexer" {
			t.Errorf("%v: a daemon looked for %v and got %v", test.answer, js.names, err)
		}
		js.names = nil
		if b.recordAll(t.Context(), silence()); len(js.names) != looks || js.names[0] != "S/recorder" {
			t.Errorf("%v: who records looked for %v", test.answer, js.names)
		}
	}
}

// recorded tells which exports daemons are done with.
type recorded chan string

func (r recorded) Completed(_ context.Context, completions []bus.Completion) error {
	for _, c := range completions {
		r <- c.ExportID
	}
	return nil
}

// echo gives each export its id as the body.
type echo struct{}

func (echo) Messages(_ context.Context, exports []event.Export) ([]event.Message, error) {
	messages := make([]event.Message, len(exports))
	for i, e := range exports {
		messages[i] = event.Message{Tenant: e.Tenant, Session: e.Session, ID: e.ID, TurnID: e.TurnID, Body: []byte(e.ID)}
	}
	return messages, nil
}

// TestWhatAServerLosesWhileItIsAwayIsMadeAnew, of a daemon and of who records, and nobody else is needed for that.
func TestWhatAServerLosesWhileItIsAwayIsMadeAnew(t *testing.T) {
	for _, lost := range [][]string{{"TURNSTONE"}, {"TURNSTONE", "obs", "daemon-indexer"}, {"TURNSTONE", "obs", recorder}} {
		t.Run(lost[len(lost)-1], func(t *testing.T) {
			t.Parallel()
			s := natstest.Start(t)
			nc, err := nats.Connect(s.URL(), nats.ReconnectWait(10*time.Millisecond), nats.MaxReconnects(-1))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(nc.Close)
			done := make(recorded, 100)
			b, err := New(t.Context(), nc, echo{}, done, Config{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { b.Close() })
			handle := func(context.Context, event.Message) (int, error) { return 1, nil }
			if _, err := b.Subscribe(t.Context(), "indexer", handle, bus.Options{}); err != nil {
				t.Fatal(err)
			}
			through := func(id string) {
				t.Helper()
				e := event.Export{Tenant: "t", Session: "s", ID: id, TurnID: id}
				for n := 0; n == 0; {
					if n, err = b.Publish(t.Context(), []event.Export{e}); t.Context().Err() != nil {
						t.Fatal(err)
					}
				}
				for timeout := time.After(2 * time.Minute); ; {
					select {
					case got := <-done:
						if got == id {
							return
						}
					case <-timeout:
						t.Fatalf("nobody hears of %s", id)
					}
				}
			}
			through(first)
			s.Stop()
			s.Lose(lost...)
			s.Restart()
			through(second)
		})
	}
}
