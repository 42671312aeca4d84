package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/turnstone-dev/turnstone/event"
)

// What one daemon may have in flight: taken from the bus and not settled. Past either bound nothing
// more is read until something is settled; one message alone may be larger.
const (
	MaxInFlight      = 1024
	MaxInFlightBytes = 64 << 20
)

// Delivery is a message on its way to a handler.
type Delivery struct {
	Message event.Message
	// Load, where it is not nil, completes the message before each try. Its error counts as one of the
	// handler.
	Load func(context.Context) (event.Message, error)
}

// Settled is a message that a daemon is done with.
type Settled struct {
	Message    event.Message
	Completion Completion
}

// Consumer runs a daemon's handler: for each session in order, for several sessions at once, with
// retries and dead letters. It is what buses are built from.
//
// Messages of one session wait in a line. A line with something to do gets one of the places, for one
// message at a time, so that no session keeps the others waiting; a message that failed leaves its line
// waiting without a place until its next try.
type Consumer struct {
	daemon  string
	handler Handler
	options Options
	settle  func(context.Context, []Settled) error
	log     *slog.Logger
	parent  context.Context // of the consumer
	ctx     context.Context // of the handlers; ended by Close
	cancel  context.CancelCauseFunc
	room    chan struct{} // holds a token when something was settled since Take looked last
	settler settler

	workers sync.WaitGroup

	mu       sync.Mutex // guards all below
	closed   bool
	lines    map[session]*line
	ready    []*line // lines with something to do and no place, first come first served
	working  int
	inFlight int
	bytes    int
}

type session struct{ tenant, name string }

// line is the messages of a session that are not done. Whoever runs its first message owns it.
type line struct {
	key     session
	waiting []Delivery
	tries   int // of the first message
	spent   time.Duration
	retry   *time.Timer
}

// NewConsumer returns a consumer for a daemon whose options came from [Check]. The handlers' contexts
// end with ctx.
//
// Settle is called with messages that are done, in batches and never twice at once; each session's come
// in order. While it returns an error it is called again with the same ones. When the consumer is closed
// it is called a last time, with a context of its own that has a few seconds; then more may follow those
// that are given again.
func NewConsumer(
	ctx context.Context, daemon string, h Handler, o Options,
	settle func(context.Context, []Settled) error, log *slog.Logger,
) *Consumer {
	c := &Consumer{
		daemon: daemon, handler: h, options: o, settle: settle, log: log, parent: ctx,
		room:  make(chan struct{}, 1),
		lines: make(map[session]*line),
	}
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	c.settler.init()
	go c.settling()
	return c
}

// Take accepts a message. It waits while too much is in flight, until ctx ends or the consumer is
// closed. One goroutine at a time may call it.
func (c *Consumer) Take(ctx context.Context, d Delivery) error {
	for {
		if c.accept(d) {
			return nil
		}
		select {
		case <-c.room:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-c.ctx.Done():
			return context.Cause(c.ctx)
		}
	}
}

func (c *Consumer) accept(d Delivery) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	size := len(d.Message.Body)
	full := c.inFlight >= MaxInFlight || c.inFlight > 0 && c.bytes+size > MaxInFlightBytes
	if c.closed || full {
		return false
	}
	c.inFlight++
	c.bytes += size
	key := session{d.Message.Tenant, d.Message.Session}
	l := c.lines[key]
	if l == nil {
		l = &line{key: key}
		c.lines[key] = l
		c.enqueue(l)
	}
	l.waiting = append(l.waiting, d)
	return true
}

// enqueue has a line worked on. The caller holds mu.
func (c *Consumer) enqueue(l *line) {
	c.ready = append(c.ready, l)
	if c.working < c.options.Parallel {
		c.working++
		c.workers.Go(c.work)
	}
}

// work serves lines until none is ready.
func (c *Consumer) work() {
	for {
		l, d := c.next()
		if l == nil {
			return
		}
		c.serve(l, d)
	}
}

// errEnded is what a handler did that called runtime.Goexit.
var errEnded = errors.New("handler ended its goroutine")

// serve tries the first message of a line. A handler that ends the goroutine failed, and another one takes its place.
func (c *Consumer) serve(l *line, d Delivery) {
	begin, processed, err := time.Now(), 0, errEnded
	defer func() {
		if c.tried(l, d, processed, err, time.Since(begin)); err == errEnded {
			c.workers.Go(c.work)
		}
	}()
	processed, err = c.try(d)
}

func (c *Consumer) next() (*line, Delivery) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil || len(c.ready) == 0 {
		c.working--
		return nil, Delivery{}
	}
	l := c.ready[0]
	c.ready[0] = nil
	c.ready = c.ready[1:]
	return l, l.waiting[0]
}

// try runs the handler once.
func (c *Consumer) try(d Delivery) (processed int, err error) {
	ctx, cancel := context.WithTimeout(c.ctx, c.options.Timeout)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			processed, err = 0, fmt.Errorf("handler panicked: %v", v)
		}
	}()
	m := d.Message
	if d.Load != nil {
		if m, err = d.Load(ctx); err != nil {
			return 0, fmt.Errorf("body of export %s: %w", d.Message.ID, err)
		}
	}
	return c.handler(ctx, m)
}

// tried decides what follows a try.
func (c *Consumer) tried(l *line, d Delivery, processed int, err error, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	// An error of a handler that was told to stop says nothing about the message: it comes again.
	if err != nil && c.ctx.Err() != nil {
		return
	}
	l.tries++
	l.spent += took
	if err != nil && !rejected(err) && l.tries <= len(c.options.Backoff) {
		wait := c.options.Backoff[l.tries-1]
		c.log.LogAttrs(c.ctx, slog.LevelInfo, "daemon will try again",
			slog.String("daemon", c.daemon), slog.String("export", d.Message.ID),
			slog.Int("try", l.tries), slog.Duration("in", wait), slog.Any("error", err))
		l.retry = time.AfterFunc(wait, func() { c.again(l) })
		return
	}
	c.settler.add(Settled{Message: d.Message, Completion: c.completion(l, d.Message, processed, err)})
	l.tries, l.spent = 0, 0
	l.waiting[0] = Delivery{}
	l.waiting = l.waiting[1:]
	if len(l.waiting) == 0 {
		delete(c.lines, l.key)
		return
	}
	c.enqueue(l)
}

func (c *Consumer) again(l *line) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l.retry = nil
	if !c.closed {
		c.enqueue(l)
	}
}

func (c *Consumer) completion(l *line, m event.Message, processed int, err error) Completion {
	done := Completion{
		Daemon: c.daemon, Tenant: m.Tenant, Session: m.Session, ExportID: m.ID, TurnID: m.TurnID, Segment: m.Segment,
		Status: OK, Processed: processed, Duration: l.spent, Tries: l.tries, At: time.Now().UTC(),
	}
	if err != nil {
		done.Status, done.Error = Dead, storable(err.Error())
		c.log.LogAttrs(c.ctx, slog.LevelWarn, "dead letter", slog.String("daemon", c.daemon),
			slog.String("export", m.ID), slog.Int("tries", l.tries), slog.Any("error", err))
	}
	return done
}

// release gives back the room of what was settled.
func (c *Consumer) release(batch []Settled) {
	c.mu.Lock()
	c.inFlight -= len(batch)
	for _, s := range batch {
		c.bytes -= len(s.Message.Body)
	}
	c.mu.Unlock()
	signal(c.room)
}

// Close ends the handlers' contexts, waits for them and settles what is done. It returns the error of
// that last settling. No Take may be running or follow.
func (c *Consumer) Close() error {
	// Who closes because the parent ended may be here before that end has reached the handlers' context.
	cause := context.Cause(c.parent)
	if cause == nil {
		cause = ErrClosed
	}
	c.cancel(cause)
	c.mu.Lock()
	c.closed = true
	for _, l := range c.lines {
		if l.retry != nil {
			l.retry.Stop()
		}
	}
	c.mu.Unlock()
	c.workers.Wait()
	return c.settler.finish()
}
