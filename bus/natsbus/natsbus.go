package natsbus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/internal/ids"
)

// Config says how a bus works. The zero value is ready for use.
type Config struct {
	// Stream is the name of the stream; in lower case it begins every subject. Each deployment on a NATS needs one of its
	// own. Defaults to TURNSTONE.
	Stream string
	// Replicas is how many servers of a cluster keep the stream. Defaults to what the stream has, 1 for a new one.
	Replicas int
	// MaxAge is how long messages are retained: a daemon that stays away longer misses some. Defaults
	// to what the stream has, 7 days for a new one.
	MaxAge time.Duration
	// Duplicates is how long the server remembers what was published. Defaults to what the stream has, 2 minutes for a new one.
	Duplicates time.Duration
	// Lease is how long nobody takes over from a daemon that gives no sign of life. Defaults to 15
	// seconds.
	Lease time.Duration
	// Poll is how often one that stands by looks whether it can take over. Defaults to one second.
	Poll time.Duration
	// Log is told of retries, dead letters and errors. Defaults to nowhere.
	Log slog.Handler
}

func (c Config) withDefaults() Config {
	if c.Stream == "" {
		c.Stream = "TURNSTONE"
	}
	if c.Lease <= 0 {
		c.Lease = 15 * time.Second
	}
	if c.Poll <= 0 {
		c.Poll = time.Second
	}
	return c
}

// publishTimeout is how long the server may take to answer for one message.
const publishTimeout = 5 * time.Second

// Bus is a [bus.Bus] on NATS JetStream.
type Bus struct {
	nc       *nats.Conn
	js       jetstream.JetStream
	answers  *answers
	daemons  jetstream.KeyValue
	bodies   bus.Bodies
	recorder bus.Recorder
	cfg      Config
	prefix   string
	log      *slog.Logger
	holders  *ids.Source
	// hydrator is taken by who publishes: one at a time.
	hydrator chan *bus.Hydrator
	// recording consumes completions; nil where nobody wants them.
	recording *bus.Subscription
	// refused is how often the store refused what a message says, by the message's number. It belongs to who records.
	refused map[uint64]int
	served  bus.Roster[*daemon]

	mu     sync.Mutex // guards all below
	ahead  ahead
	unmade map[string]int // how often the body of an export could not be made
}

var _ bus.Bus = (*Bus)(nil)

// New returns a bus on a connection, which stays the caller's and must stay open until the bus is
// closed. It makes the stream where it is missing, also later. With bodies it can publish, and gives the stream what
// cfg says of it; without, in a process that has only NATS, it subscribes. With a recorder it consumes what all
// daemons did; several processes share that work.
//
// The context bounds New alone.
func New(ctx context.Context, nc *nats.Conn, bodies bus.Bodies, rec bus.Recorder, cfg Config) (*Bus, error) {
	cfg = cfg.withDefaults()
	if err := CheckStream(cfg.Stream); err != nil {
		return nil, err
	}
	waiting := &answers{waiting: make(map[*nats.Msg]func(error))}
	js, err := jetstream.New(nc, jetstream.WithPublishAsyncTimeout(publishTimeout),
		jetstream.WithPublishAsyncAckHandler(waiting.acked), jetstream.WithPublishAsyncErrHandler(waiting.refused))
	if err != nil {
		return nil, fmt.Errorf("JetStream of the NATS connection: %w", err)
	}
	b := &Bus{
		nc: nc, js: js, answers: waiting, bodies: bodies, recorder: rec, cfg: cfg,
		hydrator: make(chan *bus.Hydrator, 1),
		prefix:   strings.ToLower(cfg.Stream), log: bus.Logger(cfg.Log), holders: ids.New(nil),
		unmade: make(map[string]int), refused: make(map[uint64]int),
	}
	b.hydrator <- bus.NewHydrator(bodies)
	if err := b.makeStream(ctx); err != nil {
		return nil, fmt.Errorf("stream %s: %w", cfg.Stream, err)
	}
	if b.daemons, err = b.makeBucket(ctx); err != nil {
		return nil, fmt.Errorf("key-value bucket of stream %s: %w", cfg.Stream, err)
	}
	if rec != nil {
		if err := b.record(ctx); err != nil {
			return nil, fmt.Errorf("consumer of completions: %w", err)
		}
	}
	return b, nil
}

func (b *Bus) makeBucket(ctx context.Context) (jetstream.KeyValue, error) {
	bucket := b.cfg.Stream + "_daemons"
	kv, err := b.js.KeyValue(ctx, bucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		kv, err = b.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
			Bucket: bucket, Description: "who works for the daemons of Turnstone, and how far they have come",
			Storage: jetstream.FileStorage, Replicas: max(b.cfg.Replicas, 1),
		})
	}
	return kv, err
}

// nobody says whether an error may mean that the stream or the bucket is gone: a server lost its disk.
func nobody(err error) bool {
	return errors.Is(err, jetstream.ErrNoStreamResponse) || errors.Is(err, nats.ErrNoResponders)
}

// heartbeat is how often the server gives a sign of life to who pulls. Two that are missing are an error for the reader.
const heartbeat = 5 * time.Second

// gone returns an error where the server has a consumer no more. Nobody is told of that while there is no connection, and
// who goes on pulling gets nothing for ever.
func (b *Bus) gone(ctx context.Context, durable string) error {
	_, err := b.js.Consumer(ctx, b.cfg.Stream, durable)
	if errors.Is(err, jetstream.ErrConsumerNotFound) || errors.Is(err, jetstream.ErrStreamNotFound) || nobody(err) {
		return fmt.Errorf("consumer %s is gone: %w", durable, err)
	}
	return nil
}

// Name implements [bus.Bus].
func (b *Bus) Name() string { return "nats" }

// NeedsBodies implements [bus.Bus].
func (b *Bus) NeedsBodies() bool { return true }

// Announce implements [bus.Bus]: what was published last was noted. The server wakes consumers by itself.
func (b *Bus) Announce() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ahead.noted()
}

// Subscribe implements [bus.Bus].
func (b *Bus) Subscribe(ctx context.Context, name string, h bus.Handler, o bus.Options) (*bus.Subscription, error) {
	o, err := bus.Check(name, h, o)
	if err != nil {
		return nil, err
	}
	if err := b.served.Open(); err != nil {
		return nil, err
	}
	d := &daemon{bus: b, name: name, handler: h, options: o, holder: b.holders.Next(time.Now())}
	// Before it returns, so that a daemon that begins with what is new misses nothing published later.
	if err := d.claim(ctx); err != nil {
		return nil, fmt.Errorf("subscribe daemon %s: %w", name, err)
	}
	return b.served.Start(ctx, d, d.run)
}

// Close implements [bus.Bus]. The connection stays open. Closing again changes nothing.
func (b *Bus) Close() error {
	err := b.served.Close()
	if b.recording != nil {
		err = errors.Join(err, b.recording.Close())
	}
	b.js.CleanupPublisher()
	return err
}
