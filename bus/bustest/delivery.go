package bustest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/event"
)

func everyDaemon(t *testing.T, w *world) {
	names := []string{"alice", "a.b:c-d_e", "a", "Z.9"}
	daemons := []string{"indexer", "mail.er:2", "audit-log"}
	inboxes := make([]*inbox, len(daemons))
	for i, d := range daemons {
		inboxes[i] = newInbox()
		w.subscribe(d, inboxes[i].handle, bus.Options{})
	}
	want := make(map[string][]string)
	for _, tenant := range []string{"one", "t.w:o"} {
		for _, name := range names {
			want[tenant+"/"+name] = w.export(tenant, name, 10)
		}
	}
	w.flush()
	for i, in := range inboxes {
		got := make(map[string][]string)
		numbers := make(map[int64]bool)
		for _, m := range in.wait(t, 10*len(want)) {
			key := m.Tenant + "/" + m.Session
			if body := fmt.Sprintf(`{"n":%d}`, 2*len(got[key])+1); string(m.Body) != body {
				t.Errorf("%s: body %s, want %s", key, m.Body, body)
			}
			if m.TurnID == "" || m.Number <= 0 || numbers[m.Number] {
				t.Errorf("%s: turn %q, number %d", m.ID, m.TurnID, m.Number)
			}
			numbers[m.Number] = true
			got[key] = append(got[key], m.ID)
		}
		for key := range want {
			same(t, daemons[i]+" "+key, got[key], want[key])
		}
	}
	for _, d := range daemons {
		id := want["t.w:o/a.b:c-d_e"][3]
		c := w.recorder.of(t, d, id)
		if c.Status != bus.OK || c.Tries != 1 || c.Processed != 1 || c.Error != "" || c.At.IsZero() || c.Duration <= 0 ||
			c.Tenant != "t.w:o" || c.Session != "a.b:c-d_e" || c.TurnID == "" {
			t.Errorf("completion %+v", c)
		}
	}
}

func order(t *testing.T, w *world) {
	const sessions, each = 6, 40
	in := newInbox()
	// The first of two sessions waits for the first of another: they must run side by side.
	meet := make(chan struct{})
	var met sync.Map
	w.subscribe("indexer", func(ctx context.Context, m event.Message) (int, error) {
		if _, seen := met.LoadOrStore(m.Session, true); !seen {
			select {
			case meet <- struct{}{}:
			case <-meet:
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		}
		return in.handle(ctx, m)
	}, bus.Options{Parallel: 3})
	want := make(map[string][]string)
	for range each {
		for s := range sessions {
			name := fmt.Sprint("s", s)
			want[name] = append(want[name], w.export("tenant", name, 1)...)
		}
	}
	w.flush()
	got := in.wait(t, sessions*each)
	for name, ids := range want {
		same(t, name, idsOf(got, name), ids)
	}
}

func alone(t *testing.T, w *world) {
	var running, most, same atomic.Int64
	in := newInbox()
	busy := make(map[string]*atomic.Int64)
	for _, s := range []string{"a", "b", "c", "d"} {
		busy[s] = new(atomic.Int64)
	}
	w.subscribe("indexer", func(ctx context.Context, m event.Message) (int, error) {
		if busy[m.Session].Add(1) > 1 {
			same.Add(1)
		}
		if n := running.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer running.Add(-1)
		defer busy[m.Session].Add(-1)
		return in.handle(ctx, m)
	}, bus.Options{Parallel: 2})
	for s := range busy {
		w.export("tenant", s, 50)
	}
	w.flush()
	in.wait(t, 200)
	if same.Load() != 0 || most.Load() > 2 {
		t.Errorf("%d calls beside one of their session; up to %d at once, want 2", same.Load(), most.Load())
	}
}

func begin(t *testing.T, w *world) {
	early := w.publish("s", 3)
	all, fresh := newInbox(), newInbox()
	w.subscribe("all", all.handle, bus.Options{})
	w.subscribe("fresh", fresh.handle, bus.Options{From: bus.New})
	late := w.publish("s", 2)
	same(t, "from the beginning", all.ids(t, 5, "s"), slices.Concat(early, late))
	same(t, "from now on", fresh.ids(t, 2, "s"), late)

	// Where a daemon begins matters once: a known one goes on.
	w.shut()
	w.open()
	later := w.publish("s", 2)
	again := newInbox()
	w.subscribe("fresh", again.handle, bus.Options{From: bus.New})
	same(t, "a known daemon", again.ids(t, 2, "s"), later)
}

func goOn(t *testing.T, w *world) {
	first := newInbox()
	w.subscribe("indexer", first.handle, bus.Options{})
	early := w.publish("s", 30)
	same(t, "before", first.ids(t, 30, "s"), early)
	w.shut()
	w.open()
	late := w.publish("s", 5)
	second := newInbox()
	w.subscribe("indexer", second.handle, bus.Options{})
	same(t, "after", second.ids(t, 5, "s"), late)
}

func crash(t *testing.T, w *world) {
	const each = 30
	want := map[string][]string{"a": w.export("tenant", "a", each), "b": w.export("tenant", "b", each)}
	w.flush()
	first := newInbox()
	stuck := make(chan struct{})
	w.subscribe("indexer", func(ctx context.Context, m event.Message) (int, error) {
		if m.ID == want["a"][10] {
			close(stuck)
			<-ctx.Done()
			return 0, ctx.Err()
		}
		return first.handle(ctx, m)
	}, bus.Options{Parallel: 1})
	within(t, "the message in the middle", stuck)
	w.kill()
	if err := w.bus.Close(); err != nil {
		t.Logf("close of the killed bus: %v", err)
	}
	w.open()
	second := newInbox()
	last := make(chan struct{}, 2)
	w.subscribe("indexer", func(ctx context.Context, m event.Message) (int, error) {
		n, err := second.handle(ctx, m)
		if m.ID == want[m.Session][each-1] {
			last <- struct{}{}
		}
		return n, err
	}, bus.Options{})
	within(t, "the last of one session", last)
	within(t, "the last of the other", last)
	got := second.wait(t, 0)
	for name, ids := range want {
		again := idsOf(got, name)
		handled := len(idsOf(first.wait(t, 0), name))
		if len(again) < each-handled {
			t.Errorf("%s: %d handled before, only %d after the crash", name, handled, len(again))
		}
		same(t, name, again, ids[each-len(again):])
	}
}

func slow(t *testing.T, w *world) {
	release := make(chan struct{})
	slow, fast := newInbox(), newInbox()
	w.subscribe("slow", func(ctx context.Context, m event.Message) (int, error) {
		select {
		case <-release:
			return slow.handle(ctx, m)
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}, bus.Options{})
	w.subscribe("fast", fast.handle, bus.Options{})
	// More than a daemon may have in flight.
	const n = bus.MaxInFlight + 500
	want := w.publish("s", n)
	same(t, "fast", fast.ids(t, n, "s"), want)
	if got := slow.wait(t, 0); len(got) != 0 {
		t.Errorf("the slow one handled %d", len(got))
	}
	close(release)
	same(t, "slow", slow.ids(t, n, "s"), want)
}
