package natsbus_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/bus/natsbus"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/natstest"
)

// quick is a configuration for tests in which daemons are taken over.
var quick = natsbus.Config{Lease: 2 * time.Second, Poll: 5 * time.Millisecond}

func TestAConsumerThatWasRemovedIsMadeAnew(t *testing.T) {
	nc := connect(t, serve(t))
	b := open(t, nc, &sized{}, quick)
	got := listen(t, b, "indexer", bus.Options{})
	publish(t, b, export("s", "01"))
	next(t, got)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if err := js.DeleteConsumer(t.Context(), "TURNSTONE", "daemon-indexer"); err != nil {
		t.Fatal(err)
	}
	publish(t, b, export("s", "02"))
	for m := next(t, got); m.ID != "02"; m = next(t, got) {
		if m.ID != "01" {
			t.Fatalf("message %s", m.ID)
		}
	}
}

// TestServerRestart takes the server away in the middle of publishing and handling.
func TestServerRestart(t *testing.T) {
	const sessions, each = 4, 40
	s := natstest.Start(t)
	nc, err := nats.Connect(s.URL(), nats.ReconnectWait(10*time.Millisecond), nats.MaxReconnects(-1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	b := open(t, nc, &sized{}, quick)
	got := listen(t, b, "indexer", bus.Options{})
	var waiting []event.Export
	want := make(map[string][]string)
	for i := range sessions * each {
		name, id := fmt.Sprint("s", i%sessions), fmt.Sprintf("%03d", i)
		waiting = append(waiting, export(name, id))
		want[name] = append(want[name], id)
	}
	failed := false
	for round := 0; len(waiting) > 0; round++ {
		if round == 3 {
			s.Stop()
			if n, err := b.Publish(t.Context(), waiting[:20]); n != 0 || err == nil {
				t.Fatalf("published %d without a server: %v", n, err)
			}
			failed = true
			s.Restart()
		}
		n, err := b.Publish(t.Context(), waiting[:min(20, len(waiting))])
		if err != nil && !failed {
			t.Fatal(err)
		}
		waiting = waiting[n:]
	}
	seen := make(map[string][]string)
	for n := 0; n < sessions*each; {
		// What was being handled may come again, but nothing comes before what it follows.
		if m := next(t, got); !slices.Contains(seen[m.Session], m.ID) {
			seen[m.Session] = append(seen[m.Session], m.ID)
			n++
		}
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Error(diff)
	}
}

// unfit is an export that a stream of small messages refuses, a stub of it too.
func unfit(session, id string) event.Export {
	e := export(session, id)
	e.TurnID = strings.Repeat("t", 600)
	return e
}

// limit has a stream take messages of size bytes at most.
func limit(t *testing.T, js jetstream.JetStream, size int32) {
	t.Helper()
	stream, err := js.Stream(t.Context(), "TURNSTONE")
	if err != nil {
		t.Fatal(err)
	}
	cfg := stream.CachedInfo().Config
	cfg.MaxMsgSize = size
	if _, err := js.UpdateStream(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
}

// TestWhatTheStreamFindsTooLargeBecomesAStub at once, and what is behind it goes on.
func TestWhatTheStreamFindsTooLargeBecomesAStub(t *testing.T) {
	nc := connect(t, serve(t))
	b := open(t, nc, &sized{sizes: map[string]int{"02": 5000}}, natsbus.Config{})
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	limit(t, js, 1000)
	publish(t, b, export("s", "01"), export("s", "02"), export("s", "03"))
	got := listen(t, b, "indexer", bus.Options{})
	begins(t, got, "01")
	var stub natsbus.Stub
	m := next(t, got)
	if err := json.Unmarshal(m.Body, &stub); err != nil {
		t.Fatal(err)
	}
	want := natsbus.Stub{Tenant: "t.1", Session: "s", ExportID: "02", TurnID: "turn-02", TooLarge: 5000}
	if diff := cmp.Diff(want, stub); diff != "" || m.ID != "02" {
		t.Error(m.ID, diff)
	}
	begins(t, got, "03")
}

// TestWhatTheServerRefusesHoldsUpItsSessionOnly publishes to a stream that takes small messages only.
func TestWhatTheServerRefusesHoldsUpItsSessionOnly(t *testing.T) {
	nc := connect(t, serve(t))
	b := open(t, nc, &sized{sizes: map[string]int{"02": 5000}}, natsbus.Config{})
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := nc.SubscribeSync("turnstone.export.>")
	if err != nil {
		t.Fatal(err)
	}
	limit(t, js, 1000)
	exports := []event.Export{export("good", "01"), unfit("bad", "02"), export("good", "03"), export("bad", "04")}
	n, err := b.Publish(t.Context(), exports)
	if n != 1 || err == nil || !strings.Contains(err.Error(), "publish export 02") {
		t.Fatalf("published %d: %v", n, err)
	}
	limit(t, js, -1)
	publish(t, b, exports[1:]...)
	// The refused one was sent whole, as a stub and whole again, all others once, and none of its session before it.
	var sent []string
	for range 6 {
		msg, err := raw.NextMsg(2 * time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		sent = append(sent, msg.Header.Get(natsbus.HeaderExport))
	}
	if want := []string{"01", "02", "03", "02", "02", "04"}; !slices.Equal(sent, want) {
		t.Errorf("sent %v, want %v", sent, want)
	}
	got := listen(t, b, "indexer", bus.Options{})
	seen := make(map[string][]string)
	for range 4 {
		m := next(t, got)
		seen[m.Session] = append(seen[m.Session], m.ID)
	}
	if diff := cmp.Diff(map[string][]string{"good": {"01", "03"}, "bad": {"02", "04"}}, seen); diff != "" {
		t.Error(diff)
	}
}

// TestAServerThatForgotEverything comes back without its disk: what a bus needs is made anew.
func TestAServerThatForgotEverything(t *testing.T) {
	nc := connect(t, serve(t))
	b := open(t, nc, &sized{}, quick)
	got := map[string]<-chan event.Message{
		"all": listen(t, b, "all", bus.Options{}), "news": listen(t, b, "news", bus.Options{From: bus.New}),
	}
	publish(t, b, export("s", "01"), export("s", "02"))
	for _, messages := range got {
		next(t, messages)
		next(t, messages)
	}
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if err := js.DeleteStream(t.Context(), "TURNSTONE"); err != nil {
		t.Fatal(err)
	}
	if err := js.DeleteKeyValue(t.Context(), "TURNSTONE_daemons"); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	for n := 0; n == 0; {
		if n, err = b.Publish(t.Context(), []event.Export{export("s", "03")}); err != nil && time.Since(begin) > 20*time.Second {
			t.Fatal(err)
		}
	}
	for _, messages := range got {
		for m := next(t, messages); m.ID != "03"; m = next(t, messages) {
		}
	}
}

// TestWhatAServerForgotIsPublishedAgain, also what was published ahead of something that it refused.
func TestWhatAServerForgotIsPublishedAgain(t *testing.T) {
	for _, makes := range []string{"this bus", "another engine"} {
		t.Run(makes, func(t *testing.T) { publishAgain(t, makes == "another engine") })
	}
}

func publishAgain(t *testing.T, other bool) {
	nc := connect(t, serve(t))
	b := open(t, nc, &sized{sizes: map[string]int{"01": 5000}}, quick)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	limit(t, js, 1000)
	exports := []event.Export{unfit("bad", "01"), export("good", "02")}
	if n, err := b.Publish(t.Context(), exports); n != 0 || err == nil {
		t.Fatalf("published %d: %v", n, err)
	}
	if err := js.DeleteStream(t.Context(), "TURNSTONE"); err != nil {
		t.Fatal(err)
	}
	if other {
		open(t, nc, &sized{}, quick)
	} else if n, err := b.Publish(t.Context(), exports); n != 0 || err == nil {
		t.Fatalf("published %d without a stream: %v", n, err)
	}
	publish(t, b, exports...)
	got := listen(t, b, "indexer", bus.Options{})
	seen := []string{next(t, got).ID, next(t, got).ID}
	slices.Sort(seen)
	if want := []string{"01", "02"}; !slices.Equal(seen, want) {
		t.Errorf("messages %v", seen)
	}
}
