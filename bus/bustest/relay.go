package bustest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
)

func duplicate(t *testing.T, w *world) {
	in := newInbox()
	w.subscribe("indexer", in.handle, bus.Options{})
	var exports []event.Export
	ids := w.export("tenant", "s", 5)
	err := w.place.Store.View(w.ctx, func(tx store.Tx) error {
		for _, id := range ids {
			e, err := tx.Outbox().Export(w.ctx, "tenant", id)
			if err != nil {
				return err
			}
			exports = append(exports, e)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// As after a crash between sending and noting.
	if n, err := w.bus.Publish(w.ctx, exports); n != 5 || err != nil {
		t.Fatalf("publish: %d, %v", n, err)
	}
	w.flush()
	last := w.publish("s", 1)
	same(t, "s", in.ids(t, 6, "s"), append(ids, last...))
}

func relayRestart(t *testing.T, w *world) {
	in := newInbox()
	w.subscribe("indexer", in.handle, bus.Options{})
	want := make(map[string][]string)
	for s := range 5 {
		name := fmt.Sprint("s", s)
		want[name] = w.export("tenant", name, 40)
	}
	// The first relay ends after some rounds.
	ctx, cancel := context.WithCancel(w.ctx)
	rounds := 0
	first := bus.NewRelay(w.place.Store, w.bus, bus.RelayConfig{
		Batch: 7,
		Note: func(context.Context, store.Tx, []event.Export) error {
			if rounds++; rounds == 4 {
				cancel()
			}
			return nil
		},
	})
	first.Run(ctx)
	if got := len(in.wait(t, 1)); got == 200 {
		t.Errorf("all %d published before the restart", got)
	}
	w.flush()
	got := in.wait(t, 200)
	for name, ids := range want {
		same(t, name, idsOf(got, name), ids)
	}
}

func relays(t *testing.T, w *world) {
	const sessions, each = 8, 40
	in := newInbox()
	w.subscribe("indexer", in.handle, bus.Options{})
	ctx, cancel := context.WithCancel(w.ctx)
	var running, writing sync.WaitGroup
	noted := make(chan int, sessions*each)
	for range 3 {
		r := bus.NewRelay(w.place.Store, w.bus, bus.RelayConfig{
			Batch: 5, Idle: time.Millisecond,
			Note: func(_ context.Context, _ store.Tx, exports []event.Export) error {
				noted <- len(exports)
				return nil
			},
		})
		running.Go(func() { r.Run(ctx) })
	}
	var mu sync.Mutex
	want := make(map[string][]string)
	for s := range sessions {
		name := fmt.Sprint("s", s)
		writing.Go(func() {
			for range each / 4 {
				made := w.export("tenant", name, 4)
				mu.Lock()
				want[name] = append(want[name], made...)
				mu.Unlock()
			}
		})
	}
	writing.Wait()
	for n := 0; n < sessions*each; {
		n += within(t, "what relays note", noted)
	}
	got := in.wait(t, sessions*each)
	cancel()
	running.Wait()
	for name, ids := range want {
		same(t, name, idsOf(got, name), ids)
	}
}

func relayWake(t *testing.T, w *world) {
	in := newInbox()
	w.subscribe("indexer", in.handle, bus.Options{})
	ctx, cancel := context.WithCancel(w.ctx)
	r := bus.NewRelay(w.place.Store, w.bus, bus.RelayConfig{Idle: time.Hour})
	var running sync.WaitGroup
	running.Go(func() { r.Run(ctx) })
	for i := range 5 {
		made := w.export("tenant", fmt.Sprint("s", i), 1)
		r.Wake()
		same(t, "woken", in.ids(t, i+1, fmt.Sprint("s", i)), made)
	}
	cancel()
	running.Wait()
}
