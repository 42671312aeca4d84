package server

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/turnstone-dev/turnstone/event"
)

const (
	// hubPoll is how often a tenant's events are looked for that other replicas stored. Own ones are told at once.
	hubPoll = time.Second
	// hubPage is how many events are read at once.
	hubPage = 256
	// hubPending is how many events wait for a subscriber in memory. One that is slower reads the store instead.
	hubPending = 2 * hubPage
	// hubReaders is how many subscribers read the store at the same time.
	hubReaders = 8
)

// errHubClosed says that the server is about to end.
var errHubClosed = errors.New("the server is being stopped")

// source is what the events of one tenant come from: an engine.
type source interface {
	Events(ctx context.Context, session, after string, limit int) ([]event.Event, error)
	LastEvent(ctx context.Context) (string, error)
	Listen(f func(event.Event)) (stop func())
}

// hub brings what is announced to those who look on. However many of a tenant's look on, its events are read from the
// store once, and only while somebody does; see [feed]. It is safe for concurrent use.
type hub struct {
	log     *slog.Logger
	readers chan struct{} // holds one for each subscriber that reads the store
	closed  chan struct{} // closed when subscribers are to go
	running sync.WaitGroup

	mu    sync.Mutex // guards what follows, and is taken before that of a feed
	over  bool
	feeds map[string]*feed
}

func newHub(log slog.Handler) *hub {
	return &hub{
		log: slog.New(log), readers: make(chan struct{}, hubReaders), closed: make(chan struct{}), feeds: make(map[string]*feed),
	}
}

// close sends all subscribers away and waits until nothing is read any more. Those who come later are refused with
// errHubClosed.
func (h *hub) close() {
	h.mu.Lock()
	if !h.over {
		h.over = true
		close(h.closed)
		for _, f := range h.feeds {
			f.cancel()
		}
	}
	h.mu.Unlock()
	h.running.Wait()
}

// subscribe begins to tell the events of a tenant, of one session if its id is not empty, and returns when everything
// that was stored before the call is behind the subscriber. Whoever subscribes calls [subscriber.leave] in the end.
func (h *hub) subscribe(ctx context.Context, tenant string, from source, session string) (*subscriber, error) {
	s := &subscriber{hub: h, session: session, wake: make(chan struct{}, 1)}
	h.mu.Lock()
	if h.over {
		h.mu.Unlock()
		return nil, errHubClosed
	}
	f, there := h.feeds[tenant]
	if !there {
		// The feed outlives the request that began it, whose end would be the end of everybody's events.
		running, cancel := context.WithCancel(context.WithoutCancel(ctx))
		f = newFeed(h, tenant, from, cancel)
		h.feeds[tenant] = f
		h.running.Go(func() { f.run(running) })
	}
	s.feed = f
	f.add(s)
	h.mu.Unlock()
	if err := f.sync(ctx, s, true); err != nil {
		s.leave()
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s.cursor = s.end
	return s, nil
}
