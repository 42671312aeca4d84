package natsbus_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/bus/natsbus"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
)

// TestWhatCannotBeNotedIsNotPublishedAgain, however long the server remembers; what was noted is forgotten.
func TestWhatCannotBeNotedIsNotPublishedAgain(t *testing.T) {
	st := mem.New(mem.Config{})
	nc := connect(t, serve(t))
	b := open(t, nc, &sized{}, natsbus.Config{})
	raw, err := nc.SubscribeSync("turnstone.export.>")
	if err != nil {
		t.Fatal(err)
	}
	wait := func(id string) {
		t.Helper()
		err := st.Update(t.Context(), func(tx store.Tx) error {
			e := export("s", id)
			e.Segment, e.First, e.Last, e.Status, e.Body, e.At = 1, 1, 1, "complete", "{}", tx.Now()
			return tx.Outbox().InsertExport(t.Context(), e)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	full := errors.New("disk full")
	r := bus.NewRelay(st, b, bus.RelayConfig{Note: func(context.Context, store.Tx, []event.Export) error { return full }})
	if err := r.TakeOver(t.Context()); err != nil {
		t.Fatal(err)
	}
	wait("01")
	for range 3 {
		if err := r.Flush(t.Context()); !errors.Is(err, full) {
			t.Fatal(err)
		}
	}
	full = nil
	wait("02")
	if err := r.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	publish(t, b, export("s", "01")) // as when the store was restored from a copy
	var sent []string
	for range 3 {
		msg, err := raw.NextMsg(2 * time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		sent = append(sent, msg.Header.Get(natsbus.HeaderExport))
	}
	if want := []string{"01", "02", "01"}; !slices.Equal(sent, want) {
		t.Errorf("sent %v, want %v", sent, want)
	}
}
