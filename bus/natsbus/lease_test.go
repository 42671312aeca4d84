package natsbus

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/turnstone-dev/turnstone/bus"
)

// bucket answers updates with an error, after a while.
type bucket struct {
	jetstream.KeyValue
	takes   time.Duration
	err     error
	created *claimed // what the entry is created with
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

func (b bucket) Get(context.Context, string) (jetstream.KeyValueEntry, error) {
	return nil, jetstream.ErrKeyNotFound
}

func (b bucket) Create(_ context.Context, _ string, value []byte, _ ...jetstream.KVCreateOpt) (uint64, error) {
	return 1, json.Unmarshal(value, b.created)
}

// streams is a server with a stream and no consumers.
type streams struct {
	jetstream.JetStream
	info jetstream.StreamInfo
	made int
}

func (s *streams) Stream(context.Context, string) (jetstream.Stream, error) {
	return stream{info: &s.info}, nil
}

func (s *streams) Consumer(context.Context, string, string) (jetstream.Consumer, error) {
	return nil, jetstream.ErrConsumerNotFound
}
func (s *streams) CreateConsumer(context.Context, string, jetstream.ConsumerConfig) (jetstream.Consumer, error) {
	s.made++
	return nil, nil
}

type stream struct {
	jetstream.Stream
	info *jetstream.StreamInfo
}

func (s stream) CachedInfo() *jetstream.StreamInfo { return s.info }

// TestWhoLostTheDaemonMakesNoConsumer, not even while the one who took over has removed it to make it anew.
func TestWhoLostTheDaemonMakesNoConsumer(t *testing.T) {
	js := &streams{}
	taken := &jetstream.APIError{ErrorCode: jetstream.JSErrCodeStreamWrongLastSequence}
	d := &daemon{bus: &Bus{js: js, daemons: bucket{err: taken}}, name: "indexer"}
	if _, err := d.consumer(t.Context()); !errors.Is(err, errLost) || js.made > 0 {
		t.Errorf("%v, %d consumers made", err, js.made)
	}
}

// TestADaemonThatBeginsWithWhatIsNewKnowsItsStream from the start: the stream may be made anew before it has a consumer.
func TestADaemonThatBeginsWithWhatIsNewKnowsItsStream(t *testing.T) {
	made := time.Date(2026, 5, 4, 12, 0, 0, 123456789, time.UTC)
	js := &streams{info: jetstream.StreamInfo{Created: made, State: jetstream.StreamState{LastSeq: 7}}}
	var created claimed
	d := &daemon{
		bus: &Bus{js: js, daemons: bucket{created: &created}}, name: "indexer", holder: "me", options: bus.Options{From: bus.New},
	}
	if err := d.claim(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := claimed{Holder: "me", Through: 7, Stream: made}
	if diff := cmp.Diff(want, created); diff != "" {
		t.Error(diff)
	}
	if d.through != 7 || !d.stream.Equal(made) {
		t.Errorf("through %d of the stream of %v", d.through, d.stream)
	}
}
