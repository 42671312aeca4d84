package turnstone

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
)

// listenQueue is how many events wait for a listener before it misses some.
const listenQueue = 1024

// Listen has f told every event of the engine's tenant that this engine stores from now on, once it is durable:
// one after the other in a goroutine of its own, and from an embedded store in the order in which they were
// stored. Events that another process stores in the same database are not told. They have no cursor yet, since nobody
// has read them; see [Engine.Events].
//
// A slow listener holds nobody up. While 1,024 events wait for it, further ones are not told to it, which the log
// says; all of them are stored, see [Engine.Events]. If f panics, that is logged and the next event is told.
//
// Stop ends it: f is not running and not called again when it returns, so that it must not be called by f.
// Calling it again does nothing. [Engine.Close] tells what waits first, and goes on without a listener that takes longer
// than 5 seconds for it.
func (e *Engine) Listen(f func(event.Event)) (stop func()) {
	if f == nil {
		return func() {}
	}
	return e.shared.listeners.add(e.config.Tenant, f)
}

// ListenAll is [Engine.Listen] to the events of all tenants, for those who count them.
func (e *Engine) ListenAll(f func(event.Event)) (stop func()) {
	if f == nil {
		return func() {}
	}
	return e.shared.listeners.add("", f)
}

// announce stores an event with its data, JSON. Listeners are told once it is durable.
func (s *Session) announce(ctx context.Context, tx store.Tx, kind event.Kind, data string) error {
	e := event.Event{
		ID: s.engine.newID(), Tenant: s.key.Tenant, Session: s.key.Session, Kind: kind, Data: data, At: tx.Now(),
	}
	if err := tx.Outbox().InsertEvent(ctx, e); err != nil {
		return err
	}
	tx.AfterCommit(func() { s.engine.shared.listeners.announced(e) })
	return nil
}

// listeners are those who are told of events.
type listeners struct {
	log *slog.Logger

	mu     sync.Mutex // guards what follows, and is held while an event is handed out so that all have the same order
	closed bool
	all    map[*listener]struct{}
}

// listener is somebody who is told of the events of one tenant, or of all.
type listener struct {
	tenant  string // empty for all
	tell    func(event.Event)
	waiting chan event.Event // closed when there will be no more
	missed  atomic.Int64     // how many did not fit
	quit    chan struct{}    // closed when even those that wait are not to be told
	over    func()           // closes quit, once
	done    chan struct{}    // closed when the goroutine has ended
}

func newListeners(log *slog.Logger) *listeners {
	return &listeners{log: log, all: make(map[*listener]struct{})}
}

func (ls *listeners) add(tenant string, f func(event.Event)) (stop func()) {
	l := &listener{
		tenant: tenant, tell: f, waiting: make(chan event.Event, listenQueue),
		quit: make(chan struct{}), done: make(chan struct{}),
	}
	l.over = sync.OnceFunc(func() { close(l.quit) })
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.closed {
		return func() {}
	}
	ls.all[l] = struct{}{}
	go ls.run(l)
	return func() {
		l.over()
		<-l.done
	}
}

// announced tells everybody of an event that is durable.
func (ls *listeners) announced(e event.Event) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.closed {
		return
	}
	for l := range ls.all {
		if l.tenant != "" && l.tenant != e.Tenant {
			continue
		}
		select {
		case l.waiting <- e:
		default:
			l.missed.Add(1)
		}
	}
}

func (ls *listeners) run(l *listener) {
	defer close(l.done)
	defer ls.remove(l) // also where the listener ends the goroutine itself
	for {
		select {
		case <-l.quit:
			return
		default:
		}
		select {
		case <-l.quit:
			return
		case e, more := <-l.waiting:
			if !more {
				return
			}
			if missed := l.missed.Swap(0); missed > 0 {
				ls.log.Warn("a listener is too slow and missed events", slog.Int64("missed", missed), slog.String("tenant", l.tenant))
			}
			ls.call(l, e)
		}
	}
}

func (ls *listeners) remove(l *listener) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	delete(ls.all, l)
}

// call tells one event. A panic stays here: it is the listener's mistake, and the others have done nothing wrong.
func (ls *listeners) call(l *listener, e event.Event) {
	defer func() {
		if p := recover(); p != nil {
			ls.log.Error("a listener panicked", slog.String("event", string(e.Kind)), slog.String("panic", fmt.Sprint(p)), slog.String("stack", string(debug.Stack())))
		}
	}()
	l.tell(e)
}

// close tells what waits and ends all listeners, but for those that do not come back in time: nobody can end those.
func (ls *listeners) close(wait time.Duration) {
	ls.mu.Lock()
	left := make([]*listener, 0, len(ls.all))
	if !ls.closed {
		for l := range ls.all {
			left = append(left, l)
			close(l.waiting)
		}
	}
	ls.closed = true
	ls.mu.Unlock()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for i, l := range left {
		select {
		case <-l.done:
		case <-timer.C:
			for _, l := range left[i:] {
				l.over()
			}
			ls.log.Warn("a listener still works on an event, and is left alone", slog.String("tenant", l.tenant))
			return
		}
	}
}
