package server

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/sse"
)

// feed reads the events of one tenant, in the order that the store gives them, and hands them to its subscribers. One
// goroutine does so, for as long as there are subscribers.
//
// What this engine stores it hears of; what others store it finds when it looks. Either way the events are read from
// the store: what is heard of comes in no order that two replicas would agree on.
type feed struct {
	hub    *hub
	tenant string
	from   source
	cancel func()        // ends the goroutine
	kick   chan struct{} // has room for one: somebody waits to be synced, or all have left
	heard  chan struct{} // has room for one: an event of this engine is durable

	cursor string // up to where was read; of the goroutine alone
	begun  bool   // whether the cursor is one
	failed bool   // whether the last reading did

	mu      sync.Mutex // guards what follows, and what subscribers say it does
	members map[string]map[*subscriber]struct{}
	count   int
	waiting []syncing
}

// syncing is a subscriber that waits until everything that is stored now was read.
type syncing struct {
	s     *subscriber
	fresh bool         // what waits for it is older than that, and dropped
	done  chan<- error // has room for the answer
}

// frame is an event as it is sent, the same bytes for all.
type frame struct {
	cursor string
	bytes  []byte
}

func newFrame(e event.Event) *frame {
	data, err := json.Marshal(newAnnounced(e))
	var bytes []byte
	if err == nil {
		bytes, err = sse.Append(nil, sse.Event{ID: place(e), Name: string(e.Kind), Data: string(data)})
	}
	if err != nil {
		panic(err) // it is made of names, and of JSON where that is whole
	}
	return &frame{cursor: place(e), bytes: bytes}
}

func newFeed(h *hub, tenant string, from source, cancel func()) *feed {
	return &feed{
		hub: h, tenant: tenant, from: from, cancel: cancel, kick: make(chan struct{}, 1), heard: make(chan struct{}, 1),
		members: make(map[string]map[*subscriber]struct{}),
	}
}

// add takes a subscriber in, who is told nothing before it was synced.
func (f *feed) add(s *subscriber) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.members[s.session] == nil {
		f.members[s.session] = make(map[*subscriber]struct{})
	}
	f.members[s.session][s] = struct{}{}
	f.count++
}

func (f *feed) remove(s *subscriber) {
	f.mu.Lock()
	if _, there := f.members[s.session][s]; !there {
		f.mu.Unlock()
		return
	}
	delete(f.members[s.session], s)
	if len(f.members[s.session]) == 0 {
		delete(f.members, s.session)
	}
	f.count--
	last := f.count == 0
	f.mu.Unlock()
	if last {
		nudge(f.kick)
	}
}

// sync waits until everything that was stored before the call was read. With fresh, what waits for the subscriber then
// is only what came after that.
func (f *feed) sync(ctx context.Context, s *subscriber, fresh bool) error {
	if ctx.Err() != nil {
		return context.Cause(ctx) // also where it would be done as soon
	}
	done := make(chan error, 1)
	f.mu.Lock()
	f.waiting = append(f.waiting, syncing{s, fresh, done})
	f.mu.Unlock()
	nudge(f.kick)
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-f.hub.closed:
		return errHubClosed
	}
}

// nudge wakes whoever waits for the channel, which has room for one.
func nudge(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// run reads until the last subscriber has left or ctx ends.
func (f *feed) run(ctx context.Context) {
	defer f.cancel()
	stop := f.from.Listen(func(event.Event) { nudge(f.heard) })
	defer stop()
	timer := time.NewTimer(hubPoll)
	defer timer.Stop()
	for {
		next := hubPoll
		select {
		case <-ctx.Done():
			return
		case <-f.kick:
		case <-timer.C:
		case <-f.heard:
			// A store may show an event later than it is durable, when older ones are.
			next = hubPoll / 20
		}
		if f.end() {
			return
		}
		f.read(ctx)
		timer.Reset(next)
	}
}

// end closes the feed if nobody is left.
func (f *feed) end() bool {
	f.hub.mu.Lock()
	defer f.hub.mu.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.count > 0 {
		return false
	}
	delete(f.hub.feeds, f.tenant)
	return true
}

// read reads to the end of what is stored, hands it out and tells those who waited for that.
func (f *feed) read(ctx context.Context) {
	f.mu.Lock()
	waiting := f.waiting
	f.waiting = nil
	f.mu.Unlock()
	err := f.advance(ctx)
	if err != nil && !f.failed && ctx.Err() == nil {
		f.hub.log.Warn("events cannot be read, and are tried again", slog.String("tenant", f.tenant), slog.Any("error", err))
	}
	f.failed = err != nil
	f.mu.Lock()
	for _, w := range waiting {
		if err == nil && w.fresh {
			w.s.start(f.cursor)
		}
		w.done <- err
	}
	f.mu.Unlock()
}

func (f *feed) advance(ctx context.Context) error {
	if !f.begun {
		end, err := f.from.LastEvent(ctx)
		if err != nil {
			return err
		}
		f.cursor, f.begun = end, true
		return nil
	}
	for {
		page, err := f.from.Events(ctx, "", f.cursor, hubPage)
		if err != nil {
			return err
		}
		page = placed(page)
		f.publish(page)
		if len(page) < hubPage {
			return nil
		}
	}
}

// publish hands events to those who want them.
func (f *feed) publish(page []event.Event) {
	if len(page) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range page {
		f.cursor = place(e)
		all, some := f.members[""], f.members[e.Session]
		if len(all)+len(some) == 0 {
			continue
		}
		made := newFrame(e)
		for s := range all {
			s.put(made)
		}
		if e.Session != "" {
			for s := range some {
				s.put(made)
			}
		}
	}
}
