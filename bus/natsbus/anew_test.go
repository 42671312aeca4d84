package natsbus_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/bus/natsbus"
	"github.com/turnstone-dev/turnstone/event"
)

// numbered returns exports of a session with the ids from and to, and what is between.
func numbered(from, to int) []event.Export {
	var exports []event.Export
	for i := from; i <= to; i++ {
		exports = append(exports, export("s", fmt.Sprintf("%02d", i)))
	}
	return exports
}

// begins has the next message be the one with the id.
func begins(t *testing.T, got <-chan event.Message, id string) {
	t.Helper()
	if m := next(t, got); m.ID != id {
		t.Errorf("the daemon goes on with %s, want %s", m.ID, id)
	}
}

// reaches passes over messages that come again: the server need not have seen yet that they were acknowledged.
func reaches(t *testing.T, got <-chan event.Message, id string) {
	t.Helper()
	m := next(t, got)
	for m.ID < id {
		m = next(t, got)
	}
	if m.ID != id {
		t.Errorf("the daemon goes on with %s, want %s", m.ID, id)
	}
}

// handleThree has the daemon indexer come through the first three exports and notes that.
func handleThree(t *testing.T, b *natsbus.Bus) {
	t.Helper()
	got := listen(t, b, "indexer", bus.Options{})
	publish(t, b, numbered(1, 3)...)
	for range 3 {
		next(t, got)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

// handled is a connection, with what the daemon indexer has left there.
func handled(t *testing.T) jetstream.JetStream {
	t.Helper()
	nc := connect(t, serve(t))
	handleThree(t, open(t, nc, &sized{}, quick))
	// Opened again, the daemon notes how far it was before it makes its consumer anew.
	b := open(t, nc, &sized{}, quick)
	publish(t, b, export("s", "04"))
	reaches(t, listen(t, b, "indexer", bus.Options{}), "04")
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// TestAnotherStreamIsReadFromItsBeginning, whether it is shorter than the daemon had come in the one before or longer.
func TestAnotherStreamIsReadFromItsBeginning(t *testing.T) {
	for _, last := range []int{5, 12} {
		js := handled(t)
		if err := js.DeleteStream(t.Context(), "TURNSTONE"); err != nil {
			t.Fatal(err)
		}
		b := open(t, js.Conn(), &sized{}, quick)
		publish(t, b, numbered(5, last)...)
		begins(t, listen(t, b, "indexer", bus.Options{}), "05")
	}
}

// TestAnotherStreamIsReadFromItsBeginningByWhoRuns, also where what the bucket knew of the daemon is gone.
func TestAnotherStreamIsReadFromItsBeginningByWhoRuns(t *testing.T) {
	js := handled(t)
	b := open(t, js.Conn(), &sized{}, quick)
	got := listen(t, b, "indexer", bus.Options{})
	publish(t, b, export("s", "05"))
	reaches(t, got, "05")
	if err := js.DeleteStream(t.Context(), "TURNSTONE"); err != nil {
		t.Fatal(err)
	}
	if err := js.DeleteKeyValue(t.Context(), "TURNSTONE_daemons"); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	for more := numbered(6, 15); len(more) > 0; {
		n, err := b.Publish(t.Context(), more)
		if err != nil && time.Since(begin) > 20*time.Second {
			t.Fatal(err)
		}
		more = more[n:]
	}
	reaches(t, got, "06")
}

// TestADaemonThatWasClaimedWithoutAStreamGoesOn: older programs did not note which stream they had come through.
func TestADaemonThatWasClaimedWithoutAStreamGoesOn(t *testing.T) {
	js := handled(t)
	kv, err := js.KeyValue(t.Context(), "TURNSTONE_daemons")
	if err != nil {
		t.Fatal(err)
	}
	if err := js.DeleteConsumer(t.Context(), "TURNSTONE", "daemon-indexer"); err != nil {
		t.Fatal(err)
	}
	for through, id := range map[int]string{2: "03", 9: "01"} {
		value, err := json.Marshal(map[string]any{"holder": "", "through": through})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := kv.Put(t.Context(), "indexer", value); err != nil {
			t.Fatal(err)
		}
		b := open(t, js.Conn(), &sized{}, quick)
		begins(t, listen(t, b, "indexer", bus.Options{}), id)
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if err := js.DeleteConsumer(t.Context(), "TURNSTONE", "daemon-indexer"); err != nil {
			t.Fatal(err)
		}
	}
}
