package bus

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/turnstone-dev/turnstone/internal/pause"
)

// A batch is settled when it has this many messages or its first one has waited this long.
const (
	settleCount = 256
	settleAfter = 100 * time.Millisecond
)

// settleGrace is what the last batch has after the subscription's context ended.
const settleGrace = 5 * time.Second

// settler gathers messages that are done. Its goroutine is [Consumer.settling].
type settler struct {
	some  chan struct{} // holds a token when there is something to settle
	many  chan struct{} // holds a token when there is a full batch
	stop  chan struct{} // closed when nothing will be added any more
	ended chan struct{}
	err   error // of the last batch; written before ended is closed

	mu   sync.Mutex // guards done
	done []Settled
}

func (s *settler) init() {
	s.some, s.many = make(chan struct{}, 1), make(chan struct{}, 1)
	s.stop, s.ended = make(chan struct{}), make(chan struct{})
}

func (s *settler) add(d Settled) {
	s.mu.Lock()
	s.done = append(s.done, d)
	n := len(s.done)
	s.mu.Unlock()
	if n == 1 {
		signal(s.some)
	}
	if n == settleCount {
		signal(s.many)
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (s *settler) take() []Settled {
	s.mu.Lock()
	defer s.mu.Unlock()
	batch := s.done
	s.done = nil
	return batch
}

func (s *settler) finish() error {
	close(s.stop)
	<-s.ended
	return s.err
}

// settling settles batches until the consumer is closed.
func (c *Consumer) settling() {
	s := &c.settler
	defer close(s.ended)
	for {
		select {
		case <-s.some:
		case <-s.stop:
			s.err = c.settleLast(s.take())
			return
		}
		s.gather()
		batch := s.take()
		if len(batch) == 0 {
			continue
		}
		if !c.settleBatch(batch) {
			<-s.stop
			s.err = c.settleLast(append(batch, s.take()...))
			return
		}
	}
}

// gather waits until a batch is worth its update.
func (s *settler) gather() {
	t := time.NewTimer(settleAfter)
	defer t.Stop()
	select {
	case <-s.many:
	case <-t.C:
	case <-s.stop:
	}
}

// settleBatch tries until it is done or the consumer's context ends, and reports which.
func (c *Consumer) settleBatch(batch []Settled) bool {
	const first, last = 50 * time.Millisecond, 5 * time.Second
	for wait := first; ; wait = min(2*wait, last) {
		err := c.settle(c.ctx, batch)
		if err == nil {
			c.release(batch)
			return true
		}
		if c.ctx.Err() != nil {
			return false
		}
		c.log.LogAttrs(c.ctx, slog.LevelWarn, "what a daemon did waits to be noted",
			slog.String("daemon", c.daemon), slog.Any("error", err), slog.Duration("retry_in", wait))
		if !pause.For(c.ctx, wait) {
			return false
		}
	}
}

func (c *Consumer) settleLast(batch []Settled) error {
	if len(batch) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), settleGrace)
	defer cancel()
	return c.settle(ctx, batch)
}
