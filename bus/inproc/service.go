package inproc

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/pause"
)

// service is a daemon at work, from taking its mark to losing it or letting it go.
type service struct {
	daemon   *daemon
	progress *progress
	lost     func()
	recorded int // how many of the batch that is being settled the recorder has

	// The rest is of the goroutine that reads.
	known  bool // before what is read: a new daemon begins with what is kept, and misses nothing of the rest
	unseen int  // exports that were swept before it saw them, not told of yet
}

// retryAfter is how long reading rests after an error.
const retryAfter = 250 * time.Millisecond

// read takes published exports and hands them to the consumer until ctx ends.
func (s *service) read(ctx context.Context, c *bus.Consumer, after int64) {
	hydrator := bus.NewHydrator(s.daemon.bus.bodies)
	passed := false // by exports that are no longer kept, which nobody settles
	for ctx.Err() == nil {
		exports, err := s.daemon.published(ctx, after)
		none := err == nil && len(exports) == 0
		if none {
			s.tell(ctx)
		}
		for err == nil && len(exports) > 0 {
			n := keptUntil(exports)
			if n > 0 {
				s.tell(ctx)
				n, err = s.deliver(ctx, c, hydrator, exports[:n])
			} else {
				n, passed = s.pass(exports), true
			}
			if n > 0 {
				after = exports[n-1].Sent
			}
			exports = exports[n:]
		}
		switch {
		case ctx.Err() != nil:
		case err != nil:
			s.daemon.warn(ctx, "published exports cannot be read", err)
			pause.For(ctx, retryAfter)
		case none && passed:
			passed = !s.arrive(ctx)
		case none:
			s.daemon.rest(ctx)
		}
	}
}

// keptUntil is how many of the exports, from the first on, still have a body.
func keptUntil(exports []event.Export) int {
	if n := slices.IndexFunc(exports, func(e event.Export) bool { return e.Body == "" }); n >= 0 {
		return n
	}
	return len(exports)
}

// pass goes past the first exports as far as they are no longer kept, and returns how many.
func (s *service) pass(exports []event.Export) (n int) {
	for ; n < len(exports) && exports[n].Body == ""; n++ {
		s.progress.take(exports[n].Sent)
		s.progress.settle(exports[n].Sent)
	}
	s.unseen += n
	return n
}

// tell says once how many exports in a row were swept before the daemon saw them: nothing else tells who runs it of them.
func (s *service) tell(ctx context.Context) {
	if s.known && s.unseen > 0 {
		s.daemon.bus.log.LogAttrs(ctx, slog.LevelWarn, "exports were swept before a daemon saw them",
			slog.String("daemon", s.daemon.name), slog.Int("exports", s.unseen))
	}
	s.known, s.unseen = true, 0
}

// arrive moves the mark past what is no longer kept, since nothing may follow that does. It reports whether that is done.
func (s *service) arrive(ctx context.Context) bool {
	err := s.daemon.advance(ctx, s.progress.reached())
	switch {
	case err == nil:
		return true
	case errors.Is(err, errLost):
		s.lost()
	case ctx.Err() == nil:
		s.daemon.warn(ctx, "the mark cannot be moved", err)
		pause.For(ctx, retryAfter)
	}
	return false
}

// deliver hands the first exports to the consumer, at least one, and returns how many.
func (s *service) deliver(ctx context.Context, c *bus.Consumer, h *bus.Hydrator, exports []event.Export) (int, error) {
	deliveries, err := s.hydrate(ctx, h, exports)
	for i, delivery := range deliveries {
		s.progress.take(exports[i].Sent)
		if err := c.Take(ctx, delivery); err != nil {
			return i, err
		}
	}
	return len(deliveries), err
}

// hydrate returns deliveries for the first exports, at least one. An export whose body cannot be made
// goes its way alone: it is tried again as a failing handler is, and the others go on.
func (s *service) hydrate(ctx context.Context, h *bus.Hydrator, exports []event.Export) ([]bus.Delivery, error) {
	messages, err := h.Next(ctx, exports)
	if err != nil {
		if bus.Away(err) {
			return nil, err
		}
		return []bus.Delivery{s.later(exports[0])}, nil
	}
	deliveries := make([]bus.Delivery, len(messages))
	for i, m := range messages {
		m.Number = exports[i].Sent
		deliveries[i].Message = m
	}
	return deliveries, nil
}

func (s *service) later(e event.Export) bus.Delivery {
	bare := event.Message{Tenant: e.Tenant, Session: e.Session, Segment: e.Segment, ID: e.ID, TurnID: e.TurnID, Number: e.Sent}
	return bus.Delivery{Message: bare, Load: func(ctx context.Context) (event.Message, error) {
		messages, err := bus.NewHydrator(s.daemon.bus.bodies).Next(ctx, []event.Export{e})
		if err != nil {
			return bare, err
		}
		messages[0].Number = e.Sent
		return messages[0], nil
	}}
}

// settle records completions first and moves the mark after it: a crash between the two has messages
// come again instead of losing what a daemon did.
func (s *service) settle(ctx context.Context, batch []bus.Settled) error {
	completions := make([]bus.Completion, len(batch))
	for i, done := range batch {
		completions[i] = done.Completion
	}
	if fresh := completions[s.recorded:]; s.daemon.bus.recorder != nil && len(fresh) > 0 {
		if err := s.daemon.bus.recorder.Completed(ctx, fresh); err != nil {
			return err
		}
	}
	s.recorded = len(batch)
	for _, done := range batch {
		s.progress.settle(done.Message.Number)
	}
	err := s.daemon.advance(ctx, s.progress.reached())
	switch {
	case err == nil:
		s.recorded = 0
	case errors.Is(err, errLost):
		s.lost()
	}
	return err
}

// keep renews the lease until ctx ends. Where that was not possible for as long as the lease lasts,
// another may hold the mark already: the work is given up, also while an update hangs. It does not move the
// mark: settle does, behind what is recorded.
func (s *service) keep(ctx context.Context, renewed time.Time) {
	lease := s.daemon.bus.cfg.Lease
	for pause.For(ctx, min(lease/3, time.Until(renewed.Add(lease)))) {
		began := time.Now()
		err := s.renew(ctx, renewed.Add(lease))
		switch {
		case err == nil:
			renewed = began
		case errors.Is(err, errLost) || ctx.Err() == nil && time.Since(renewed) >= lease:
			s.lost()
			return
		case ctx.Err() == nil:
			s.daemon.warn(ctx, "the mark's lease cannot be renewed", err)
		}
	}
}

func (s *service) renew(ctx context.Context, until time.Time) error {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	return s.daemon.advance(ctx, 0)
}

// rest waits until something may have been published.
func (d *daemon) rest(ctx context.Context) {
	t := time.NewTimer(d.bus.cfg.Poll)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-d.wake:
	case <-t.C:
	}
}
