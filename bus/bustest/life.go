package bustest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/leaktest"
)

func standBy(t *testing.T, w *world) {
	first, second := newInbox(), newInbox()
	sub := w.subscribe("indexer", first.handle, bus.Options{})
	w.subscribe("indexer", second.handle, bus.Options{})
	early := w.publish("s", 20)
	same(t, "the one that works", first.ids(t, 20, "s"), early)
	if got := second.wait(t, 0); len(got) != 0 {
		t.Errorf("the one that stands by got %d", len(got))
	}
	if err := sub.Close(); err != nil {
		t.Fatal(err)
	}
	late := w.publish("s", 20)
	same(t, "the one that took over", second.ids(t, 20, "s"), late)
}

func takeOver(t *testing.T, w *world) {
	first := newInbox()
	held := make(chan struct{})
	w.subscribe("indexer", func(ctx context.Context, m event.Message) (int, error) {
		close(held)
		<-ctx.Done()
		return first.handle(ctx, m)
	}, bus.Options{})
	made := w.publish("s", 5)
	within(t, "the first message", held)
	dead, kill := w.bus, w.kill
	w.open()
	second := newInbox()
	w.subscribe("indexer", second.handle, bus.Options{})
	kill()
	if err := dead.Close(); err != nil {
		t.Logf("close of the killed bus: %v", err)
	}
	same(t, "the one that took over", second.ids(t, 5, "s"), made)
}

func contextEnds(t *testing.T, w *world) {
	ctx, cancel := context.WithCancelCause(w.ctx)
	running := make(chan struct{})
	cause := make(chan error, 1)
	sub, err := w.bus.Subscribe(ctx, "indexer", func(ctx context.Context, _ event.Message) (int, error) {
		close(running)
		<-ctx.Done()
		cause <- context.Cause(ctx)
		return 0, ctx.Err()
	}, bus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	made := w.publish("s", 1)
	within(t, "the handler", running)
	over := errors.New("over")
	cancel(over)
	within(t, "the end", sub.Done())
	if err := <-cause; !errors.Is(err, over) {
		t.Errorf("cause %v, want the context's", err)
	}
	if err := sub.Close(); err != nil {
		t.Error(err)
	}
	// An interrupted handler has not failed: the message comes again.
	in := newInbox()
	w.subscribe("indexer", in.handle, bus.Options{})
	same(t, "again", in.ids(t, 1, "s"), made)
	if c := w.recorder.of(t, "indexer", made[0]); c.Tries != 1 {
		t.Errorf("completion %+v", c)
	}
}

func refused(t *testing.T, w *world) {
	handler := newInbox().handle
	for _, test := range []struct {
		field   string
		daemon  string
		handler bus.Handler
		options bus.Options
	}{
		{"daemon", "", handler, bus.Options{}},
		{"daemon", "two words", handler, bus.Options{}},
		{"handler", "indexer", nil, bus.Options{}},
		{"from", "indexer", handler, bus.Options{From: 3}},
		{"parallel", "indexer", handler, bus.Options{Parallel: -1}},
		{"timeout", "indexer", handler, bus.Options{Timeout: -1}},
		{"backoff", "indexer", handler, bus.Options{Backoff: []time.Duration{1, -1}}},
	} {
		_, err := w.bus.Subscribe(w.ctx, test.daemon, test.handler, test.options)
		var field *invalid.Field
		if !errors.As(err, &field) || field.Name != test.field {
			t.Errorf("%s: got %v", test.field, err)
		}
	}
}

func closed(t *testing.T, w *world) {
	w.shut()
	before := goleak.IgnoreCurrent()
	w.open()
	in := newInbox()
	running := make(chan struct{})
	w.subscribe("indexer", in.handle, bus.Options{})
	w.subscribe("indexer", in.handle, bus.Options{})
	w.subscribe("failing", func(context.Context, event.Message) (int, error) {
		return 0, errBroken
	}, bus.Options{Backoff: []time.Duration{time.Hour}})
	w.subscribe("running", func(ctx context.Context, _ event.Message) (int, error) {
		close(running)
		<-ctx.Done()
		if cause := context.Cause(ctx); !errors.Is(cause, bus.ErrClosed) {
			t.Errorf("cause %v, want ErrClosed", cause)
		}
		return 1, nil
	}, bus.Options{})
	made := w.publish("s", 1)
	in.wait(t, 1)
	within(t, "the running handler", running)
	w.shut()
	leaktest.None(t, append(w.place.Foreign, before)...)
	if err := w.bus.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
	if _, err := w.bus.Subscribe(w.ctx, "indexer", in.handle, bus.Options{}); !errors.Is(err, bus.ErrClosed) {
		t.Errorf("subscribe: %v", err)
	}
	if n, err := w.bus.Publish(w.ctx, []event.Export{{Tenant: "tenant", Session: "s", ID: "x"}}); n != 0 || !errors.Is(err, bus.ErrClosed) {
		t.Errorf("publish: %d, %v", n, err)
	}

	// A handler that was done when it was told to stop is done.
	w.open()
	late := w.publish("s", 1)
	again := newInbox()
	w.subscribe("running", again.handle, bus.Options{})
	got := again.ids(t, 1, "s")
	if slices.Contains(got, made[0]) {
		t.Errorf("%v came again, want %v", made, late)
	}
}
