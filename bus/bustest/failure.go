package bustest

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/event"
)

var errBroken = errors.New("the index is broken")

func deadLetter(t *testing.T, w *world) {
	in := newInbox()
	var tries atomic.Int64
	bad := w.export("tenant", "s", 1)[0]
	good := w.export("tenant", "s", 1)[0]
	w.flush()
	sub := w.subscribe("indexer", func(ctx context.Context, m event.Message) (int, error) {
		if m.ID == bad {
			tries.Add(1)
			return 7, errBroken
		}
		return in.handle(ctx, m)
	}, bus.Options{})
	same(t, "behind the bad one", in.ids(t, 1, "s"), []string{good})
	if tries.Load() != 4 {
		t.Errorf("%d tries, want 4", tries.Load())
	}
	c := w.recorder.of(t, "indexer", bad)
	if c.Status != bus.Dead || c.Tenant != "tenant" || c.Session != "s" || c.TurnID == "" || c.At.IsZero() || c.Tries != 4 || c.Error != errBroken.Error() || c.Daemon != "indexer" {
		t.Errorf("completion %+v", c)
	}
	if err := sub.Close(); err != nil {
		t.Error(err)
	}

	// It does not come again.
	w.shut()
	w.open()
	again := newInbox()
	w.subscribe("indexer", again.handle, bus.Options{})
	next := w.publish("s", 1)
	same(t, "after the dead letter", again.ids(t, 1, "s"), next)
}

func failingSession(t *testing.T, w *world) {
	in := newInbox()
	w.subscribe("indexer", func(ctx context.Context, m event.Message) (int, error) {
		if m.Session == "bad" {
			return 0, errBroken
		}
		return in.handle(ctx, m)
	}, bus.Options{Parallel: 1, Backoff: []time.Duration{time.Hour}})
	w.export("tenant", "bad", 3)
	good := w.export("tenant", "good", 50)
	w.flush()
	same(t, "the good session", in.ids(t, 50, "good"), good)
}

func laterSuccess(t *testing.T, w *world) {
	var tries atomic.Int64
	w.subscribe("indexer", func(context.Context, event.Message) (int, error) {
		if tries.Add(1) < 3 {
			return 0, errBroken
		}
		return 5, nil
	}, bus.Options{})
	id := w.publish("s", 1)[0]
	if c := w.recorder.of(t, "indexer", id); c.Status != bus.OK || c.Tries != 3 || c.Processed != 5 || c.Error != "" {
		t.Errorf("completion %+v", c)
	}
}

func reject(t *testing.T, w *world) {
	var tries atomic.Int64
	w.subscribe("indexer", func(context.Context, event.Message) (int, error) {
		tries.Add(1)
		return 0, bus.Reject(errBroken)
	}, bus.Options{Backoff: []time.Duration{time.Hour}})
	id := w.publish("s", 1)[0]
	c := w.recorder.of(t, "indexer", id)
	if tries.Load() != 1 || c.Status != bus.Dead || c.Tries != 1 || c.Error != errBroken.Error() {
		t.Errorf("%d tries, completion %+v", tries.Load(), c)
	}
}

func panics(t *testing.T, w *world) {
	w.subscribe("indexer", func(context.Context, event.Message) (int, error) {
		panic("index out of order")
	}, bus.Options{})
	id := w.publish("s", 1)[0]
	c := w.recorder.of(t, "indexer", id)
	if c.Status != bus.Dead || c.Tries != 4 || !strings.Contains(c.Error, "index out of order") {
		t.Errorf("completion %+v", c)
	}
}

func deadline(t *testing.T, w *world) {
	w.subscribe("indexer", func(ctx context.Context, _ event.Message) (int, error) {
		<-ctx.Done()
		return 0, ctx.Err()
	}, bus.Options{Timeout: time.Millisecond})
	id := w.publish("s", 1)[0]
	c := w.recorder.of(t, "indexer", id)
	if c.Status != bus.Dead || c.Error != context.DeadlineExceeded.Error() {
		t.Errorf("completion %+v", c)
	}
}

func recorderFails(t *testing.T, w *world) {
	w.recorder.mu.Lock()
	w.recorder.fail = errors.New("the trace cannot be written")
	w.recorder.mu.Unlock()
	in := newInbox()
	w.subscribe("indexer", in.handle, bus.Options{})
	made := w.publish("s", 3)
	same(t, "handled", in.ids(t, 3, "s"), made)
	w.recorder.until(t, "a refusal", func() bool { return w.recorder.refused > 0 })
	w.recorder.mu.Lock()
	w.recorder.fail = nil
	w.recorder.mu.Unlock()
	for _, id := range made {
		if c := w.recorder.of(t, "indexer", id); c.Status != bus.OK {
			t.Errorf("completion %+v", c)
		}
	}
}

func unmade(t *testing.T, w *world) {
	bad := w.export("tenant", "bad", 2)
	good := w.export("tenant", "good", 20)
	w.bodies.mu.Lock()
	w.bodies.fail = map[string]error{bad[0]: errors.New("its turns are gone")}
	w.bodies.mu.Unlock()
	// A bus may refuse to publish what it cannot make, for some rounds.
	for range 10 {
		if err := w.relay.Flush(w.ctx); err == nil {
			break
		}
	}
	in := newInbox()
	w.subscribe("indexer", func(ctx context.Context, m event.Message) (int, error) {
		if m.ID == bad[0] {
			return 0, bus.Reject(errors.New("a stub"))
		}
		return in.handle(ctx, m)
	}, bus.Options{})
	same(t, "the others", in.ids(t, 21, "good"), good)
	same(t, "behind it", in.ids(t, 21, "bad"), bad[1:])
	if c := w.recorder.of(t, "indexer", bad[0]); c.Status != bus.Dead {
		t.Errorf("completion %+v", c)
	}
}
