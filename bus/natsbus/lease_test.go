package natsbus

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/turnstone-dev/turnstone/bus"
)

// bucket answers updates with an error, after a while.
type bucket struct {
	jetstream.KeyValue
	takes time.Duration
	err   error
}

func (b bucket) Update(ctx context.Context, _ string, _ []byte, _ uint64) (uint64, error) {
	select {
	case <-time.After(b.takes):
		return 0, b.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// TestWhoCannotRenewGivesUpInTime: who stands by takes over when the lease ends.
func TestWhoCannotRenewGivesUpInTime(t *testing.T) {
	for _, takes := range []time.Duration{0, time.Second, 4 * time.Second, 5 * time.Second, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			const lease = 15 * time.Second
			b := &Bus{daemons: bucket{takes: takes, err: errors.New("away")}, cfg: Config{Lease: lease}, log: bus.Logger(nil)}
			d := &daemon{bus: b, name: "indexer", renewed: time.Now()}
			lost := false
			d.keep(t.Context(), func() { lost = true })
			if after := time.Since(d.renewed); !lost || after != lease {
				t.Errorf("where an update takes %s, the work was given up after %s", takes, after)
			}
		})
	}
}

// streams is a server with a stream and no consumers.
type streams struct {
	jetstream.JetStream
	made int
}

func (s *streams) Stream(context.Context, string) (jetstream.Stream, error) { return stream{}, nil }
func (s *streams) Consumer(context.Context, string, string) (jetstream.Consumer, error) {
	return nil, jetstream.ErrConsumerNotFound
}
func (s *streams) CreateConsumer(context.Context, string, jetstream.ConsumerConfig) (jetstream.Consumer, error) {
	s.made++
	return nil, nil
}

type stream struct{ jetstream.Stream }

func (stream) CachedInfo() *jetstream.StreamInfo { return &jetstream.StreamInfo{} }

// TestWhoLostTheDaemonMakesNoConsumer, not even while the one who took over has removed it to make it anew.
func TestWhoLostTheDaemonMakesNoConsumer(t *testing.T) {
	js := &streams{}
	taken := &jetstream.APIError{ErrorCode: jetstream.JSErrCodeStreamWrongLastSequence}
	d := &daemon{bus: &Bus{js: js, daemons: bucket{err: taken}}, name: "indexer"}
	if _, err := d.consumer(t.Context()); !errors.Is(err, errLost) || js.made > 0 {
		t.Errorf("%v, %d consumers made", err, js.made)
	}
}
