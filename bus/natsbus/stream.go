package natsbus

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/turnstone-dev/turnstone/internal/invalid"
)

// maxStream is how long the name of a stream may be; other names are made of it.
const maxStream = 64

// CheckStream refuses a name that the stream of a bus cannot have.
func CheckStream(name string) error {
	legal := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-'
	}
	if name == "" || len(name) > maxStream || strings.ContainsFunc(name, func(r rune) bool { return !legal(r) }) {
		return invalid.New("", fmt.Sprintf("%q is no name of a stream", name), fmt.Sprintf("use 1 to %d letters, digits, _ and -", maxStream))
	}
	return nil
}

// newStream is what a stream has that this program makes, besides what the Config says.
var newStream = jetstream.StreamConfig{
	Description: "exports of Turnstone and what daemons did with them",
	Storage:     jetstream.FileStorage,
	Replicas:    1,
	MaxAge:      7 * 24 * time.Hour,
	Duplicates:  2 * time.Minute,
}

// makeStream makes the stream where the server has none. What one has that is there stays as somebody set it, except what this
// program needs and what the Config says.
func (b *Bus) makeStream(ctx context.Context) error {
	stream, err := b.js.Stream(ctx, b.cfg.Stream)
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound):
		stream, err = b.js.CreateOrUpdateStream(ctx, b.configured(newStream))
	case err == nil && b.bodies != nil:
		there := stream.CachedInfo().Config
		if wanted := b.configured(there); !reflect.DeepEqual(wanted, there) {
			stream, err = b.js.UpdateStream(ctx, wanted)
		}
	}
	if err == nil {
		b.streamMade(stream.CachedInfo().Created)
	}
	return err
}

func (b *Bus) configured(s jetstream.StreamConfig) jetstream.StreamConfig {
	s.Name, s.Subjects = b.cfg.Stream, []string{b.prefix + ".export.*.*", b.prefix + ".done.*", b.prefix + ".dead.*"}
	if b.cfg.Replicas > 0 {
		s.Replicas = b.cfg.Replicas
	}
	if b.cfg.MaxAge > 0 {
		s.MaxAge = b.cfg.MaxAge
	}
	if b.cfg.Duplicates > 0 {
		s.Duplicates = b.cfg.Duplicates
	}
	return s
}

// streamMade says when the stream was made: what one before it held is gone.
func (b *Bus) streamMade(at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ahead.in(at)
}
