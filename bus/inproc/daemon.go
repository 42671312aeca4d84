package inproc

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/pause"
	"github.com/turnstone-dev/turnstone/store"
)

// daemon is one subscription. Its fields are its own goroutine's, but for wake.
type daemon struct {
	bus     *Bus
	name    string
	handler bus.Handler
	options bus.Options
	holder  string
	wake    chan struct{}

	held    bool
	known   bool      // it had a mark before
	through int64     // where to go on, when the mark was taken
	renewed time.Time // when the mark was taken
}

// readLimit is how many exports are read at once.
const readLimit = 256

// releaseGrace is what letting go of the mark may take after the subscription's context ended.
const releaseGrace = 5 * time.Second

// run stands by until the mark is free, serves while it is held, and begins again when it was lost.
func (d *daemon) run(ctx context.Context) error {
	for ctx.Err() == nil {
		if !d.held {
			d.standBy(ctx)
			continue
		}
		d.held = false
		err := d.serve(ctx)
		if errors.Is(err, errLost) {
			d.warn(ctx, "another took over", err)
			continue
		}
		return err
	}
	if d.held {
		return d.letGo(ctx)
	}
	return nil
}

func (d *daemon) standBy(ctx context.Context) {
	if !pause.For(ctx, d.bus.cfg.Poll) {
		return
	}
	if err := d.claim(ctx); err != nil && ctx.Err() == nil {
		d.warn(ctx, "the mark cannot be taken", err)
	}
}

// serve handles exports until ctx ends or the mark is lost.
func (d *daemon) serve(ctx context.Context) error {
	serving, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s := &service{daemon: d, progress: newProgress(d.through), lost: func() { stop(errLost) }, known: d.known}
	c := bus.NewConsumer(serving, d.name, d.handler, d.options, s.settle, d.bus.log)
	var keeper sync.WaitGroup
	keeper.Go(func() { s.keep(serving, d.renewed) })
	s.read(serving, c, d.through)
	err := c.Close()
	stop(nil)
	keeper.Wait()
	if errors.Is(context.Cause(serving), errLost) || errors.Is(err, errLost) {
		return errLost
	}
	return errors.Join(err, d.letGo(ctx))
}

func (d *daemon) letGo(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseGrace)
	defer cancel()
	if err := d.release(ctx); !errors.Is(err, errLost) {
		return err
	}
	return nil
}

func (d *daemon) warn(ctx context.Context, what string, err error) {
	d.bus.log.LogAttrs(ctx, slog.LevelWarn, what, slog.String("daemon", d.name), slog.Any("error", err))
}

// published reads on after a number.
func (d *daemon) published(ctx context.Context, after int64) (exports []event.Export, err error) {
	err = d.bus.store.View(ctx, func(tx store.Tx) error {
		exports, err = tx.Outbox().Published(ctx, after, readLimit)
		return err
	})
	return exports, err
}
