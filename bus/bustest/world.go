package bustest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/store"
)

// patience is how long a test waits for what must happen.
const patience = 2 * time.Minute

// quick is a handler's backoff in tests.
var quick = []time.Duration{time.Millisecond, 2 * time.Millisecond, 4 * time.Millisecond}

// world is one test's place with one bus on it.
type world struct {
	t        *testing.T
	ctx      context.Context
	place    Place
	bodies   *bodies
	recorder *recorder
	bus      bus.Bus
	kill     func()
	relay    *bus.Relay

	ids *ids.Source
	mu  sync.Mutex // guards all below
	// segments has a number for each session, lasts the seq of its last turn.
	segments map[string]int64
	lasts    map[string]int64
}

func newWorld(t *testing.T, factory func(*testing.T) Place) *world {
	w := &world{
		t: t, ctx: t.Context(), place: factory(t), bodies: &bodies{}, recorder: newRecorder(),
		ids: ids.New(nil), segments: make(map[string]int64), lasts: make(map[string]int64),
	}
	w.open()
	return w
}

// open opens a bus in place of the one before.
func (w *world) open() {
	w.bus, w.kill = w.place.Open(w.t, w.bodies, w.recorder)
	b := w.bus
	w.t.Cleanup(func() {
		// A killed bus has nothing left to say.
		if err := b.Close(); err != nil {
			w.t.Logf("close: %v", err)
		}
	})
	w.relay = bus.NewRelay(w.place.Store, w.bus, bus.RelayConfig{})
	if err := w.relay.TakeOver(w.ctx); err != nil {
		w.t.Fatalf("take over: %v", err)
	}
}

// export adds n exports of a session to the outbox and returns their ids.
func (w *world) export(tenant, session string, n int) []string {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	key := tenant + "/" + session
	if w.segments[key] == 0 {
		w.segments[key] = int64(len(w.segments) + 1)
	}
	exports := make([]event.Export, n)
	made := make([]string, n)
	for i := range exports {
		first := w.lasts[key] + 1
		w.lasts[key] += 2
		now := time.Now().UTC().Truncate(time.Microsecond)
		exports[i] = event.Export{
			Tenant: tenant, Session: session, Segment: w.segments[key], ID: w.ids.Next(now), TurnID: w.ids.Next(now),
			First: first, Last: w.lasts[key], Status: "complete", Body: fmt.Sprintf(`{"n":%d}`, first), At: now,
		}
		made[i] = exports[i].ID
	}
	err := w.place.Store.Update(w.ctx, func(tx store.Tx) error {
		for _, e := range exports {
			if err := tx.Outbox().InsertExport(w.ctx, e); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		w.t.Errorf("insert exports: %v", err)
	}
	return made
}

// publish adds n exports of a session and has them published.
func (w *world) publish(session string, n int) []string {
	w.t.Helper()
	made := w.export("tenant", session, n)
	w.flush()
	return made
}

func (w *world) flush() {
	w.t.Helper()
	if err := w.relay.Flush(w.ctx); err != nil {
		w.t.Fatalf("flush: %v", err)
	}
}

func (w *world) subscribe(daemon string, h bus.Handler, o bus.Options) *bus.Subscription {
	w.t.Helper()
	if o.Backoff == nil {
		o.Backoff = quick
	}
	s, err := w.bus.Subscribe(w.ctx, daemon, h, o)
	if err != nil {
		w.t.Fatalf("subscribe %s: %v", daemon, err)
	}
	return s
}

// shut closes the bus and fails the test if that fails.
func (w *world) shut() {
	w.t.Helper()
	if err := w.bus.Close(); err != nil {
		w.t.Fatalf("close: %v", err)
	}
}

// within waits for something that must come.
func within[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("%s: nothing after %v", what, patience)
		panic("unreachable")
	}
}

// bodies makes a message of an export as it is.
type bodies struct {
	mu   sync.Mutex // guards fail
	fail map[string]error
}

// Messages implements [bus.Bodies].
func (b *bodies) Messages(ctx context.Context, exports []event.Export) ([]event.Message, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	messages := make([]event.Message, len(exports))
	for i, e := range exports {
		if err := b.fail[e.ID]; err != nil {
			return nil, err
		}
		messages[i] = event.Message{Tenant: e.Tenant, Session: e.Session, ID: e.ID, TurnID: e.TurnID, Body: []byte(e.Body)}
	}
	return messages, ctx.Err()
}

// recorder keeps completions by export and daemon.
type recorder struct {
	mu      sync.Mutex // guards all below
	fail    error
	refused int
	done    map[string]bus.Completion
	changed chan struct{} // closed when something was recorded or refused
}

func newRecorder() *recorder {
	return &recorder{done: make(map[string]bus.Completion), changed: make(chan struct{})}
}

// Completed implements [bus.Recorder].
func (r *recorder) Completed(_ context.Context, completions []bus.Completion) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() {
		close(r.changed)
		r.changed = make(chan struct{})
	}()
	if r.fail != nil {
		r.refused++
		return r.fail
	}
	for _, c := range completions {
		r.done[c.Daemon+"/"+c.ExportID] = c
	}
	return nil
}

// until waits for what the recorder is to show.
func (r *recorder) until(t *testing.T, what string, shows func() bool) {
	t.Helper()
	for late := time.After(patience); ; {
		r.mu.Lock()
		ok, changed := shows(), r.changed
		r.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("%s: not recorded after %v", what, patience)
		}
	}
}

// of waits for the completion of an export by a daemon.
func (r *recorder) of(t *testing.T, daemon, export string) (c bus.Completion) {
	t.Helper()
	r.until(t, daemon+" with "+export, func() (ok bool) {
		c, ok = r.done[daemon+"/"+export]
		return ok
	})
	return c
}
