package natsbus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/turnstone-dev/turnstone/bus"
)

// errLost says that somebody else works for the daemon.
var errLost = errors.New("another works for the daemon")

// claimed is what the bucket keeps of a daemon. Every sign of life writes it anew, so that its revision
// moves on: who sees one revision for as long as a lease lasts takes over. No two clocks are compared.
type claimed struct {
	Holder string `json:"holder"` // empty where nobody works for it
	// Through is where the consumer begins behind, should it be missing.
	Through uint64 `json:"through"`
	// Stream is when the stream was made whose messages Through counts. Programs that did not know of it left it out.
	Stream time.Time `json:"stream,omitzero"`
}

// seen is the revision that one who stands by looks at, and since when.
type seen struct {
	revision uint64
	since    time.Time
}

// claim takes the daemon where it is free, and notes one that nobody knows.
func (d *daemon) claim(ctx context.Context) error {
	entry, err := d.bus.daemons.Get(ctx, Token(d.name))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return d.introduce(ctx)
	}
	if err != nil {
		return d.bus.bucketMade(ctx, err)
	}
	var c claimed
	if err := json.Unmarshal(entry.Value(), &c); err != nil {
		return fmt.Errorf("entry of daemon %s: %w", d.name, err)
	}
	if c.Holder != "" && c.Holder != d.holder {
		if d.seen.revision != entry.Revision() {
			d.seen = seen{entry.Revision(), time.Now()}
		}
		if time.Since(d.seen.since) < d.bus.cfg.Lease {
			return nil
		}
	}
	d.through, d.stream, d.revision = c.Through, c.Stream, entry.Revision()
	err = d.renew(ctx)
	if errors.Is(err, errLost) {
		return nil
	}
	d.held = err == nil
	return err
}

// introduce makes the entry of a daemon nobody knows.
func (d *daemon) introduce(ctx context.Context) error {
	// It is known where only the bucket is gone.
	known := d.revision > 0
	c := claimed{Holder: d.holder, Through: d.through, Stream: d.stream}
	if !known && d.options.From == bus.New {
		stream, err := d.bus.streamInfo(ctx)
		if err != nil {
			return err
		}
		c.Through, c.Stream = stream.State.LastSeq, stream.Created
	}
	value, err := json.Marshal(c)
	if err != nil {
		return err
	}
	d.renewed = time.Now()
	revision, err := d.bus.daemons.Create(ctx, Token(d.name), value)
	if errors.Is(err, jetstream.ErrKeyExists) {
		return nil // somebody was faster; the next look finds it
	}
	if err == nil {
		d.held, d.through, d.stream, d.revision = true, c.Through, c.Stream, revision
	}
	return err
}

// renew gives a sign of life. It is errLost where another has the daemon.
func (d *daemon) renew(ctx context.Context) error {
	return d.write(ctx, claimed{Holder: d.holder, Through: d.through, Stream: d.stream})
}

// letGo has who stands by take over at its next look.
func (d *daemon) letGo(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseGrace)
	defer cancel()
	if err := d.write(ctx, claimed{Through: d.through, Stream: d.stream}); !errors.Is(err, errLost) {
		return err
	}
	return nil
}

func (d *daemon) write(ctx context.Context, c claimed) error {
	value, err := json.Marshal(c)
	if err != nil {
		return err
	}
	began := time.Now()
	revision, err := d.bus.daemons.Update(ctx, Token(d.name), value, d.revision)
	if conflict(err) {
		return errLost
	}
	if err == nil {
		d.revision, d.renewed = revision, began
	}
	return d.bus.bucketMade(ctx, err)
}

// bucketMade returns the error of asking the bucket. Where it is gone, it is made anew: the next one who writes to it
// finds that it lost its daemon, and introduces it again.
func (b *Bus) bucketMade(ctx context.Context, err error) error {
	if !nobody(err) {
		return err
	}
	_, failed := b.makeBucket(ctx)
	return errors.Join(err, failed)
}

// conflict says whether an update found another revision than it named.
func conflict(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
		api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

func (b *Bus) streamInfo(ctx context.Context) (*jetstream.StreamInfo, error) {
	stream, err := b.js.Stream(ctx, b.cfg.Stream)
	if err != nil {
		return nil, err
	}
	return stream.CachedInfo(), nil
}
