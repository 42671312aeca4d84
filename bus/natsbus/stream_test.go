package natsbus_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/bus/natsbus"
)

// TestAStreamStaysAsItWasSet where an engine starts, except what the engine needs and what it is told.
func TestAStreamStaysAsItWasSet(t *testing.T) {
	nc := connect(t, serve(t))
	open(t, nc, &sized{}, natsbus.Config{})
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	configuration := func() jetstream.StreamConfig {
		stream, err := js.Stream(t.Context(), "TURNSTONE")
		if err != nil {
			t.Fatal(err)
		}
		return stream.CachedInfo().Config
	}
	want := configuration()
	if want.MaxAge != 7*24*time.Hour || want.Duplicates != 2*time.Minute {
		t.Errorf("made with %+v", want)
	}
	subjects := want.Subjects
	want.Description, want.MaxMsgSize, want.MaxBytes, want.MaxAge, want.Duplicates = "ours", 2000, 1<<30, 30*24*time.Hour, time.Hour
	want.Subjects = append(want.Subjects, "another")
	if _, err := js.UpdateStream(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	want.Subjects = subjects
	open(t, nc, &sized{}, natsbus.Config{})
	same := func() {
		t.Helper()
		if diff := cmp.Diff(want, configuration(), cmpopts.IgnoreFields(jetstream.StreamConfig{}, "Metadata")); diff != "" {
			t.Error(diff)
		}
	}
	same()
	want.MaxAge, want.Duplicates = time.Hour, time.Minute
	open(t, nc, &sized{}, natsbus.Config{MaxAge: time.Hour, Duplicates: time.Minute})
	same()
}

func TestNamesOfStreams(t *testing.T) {
	for _, name := range []string{"TURNSTONE", "a-b_2", strings.Repeat("s", 64)} {
		if err := natsbus.CheckStream(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"", "a.b", "a b", "a*", "ü", "a/b", strings.Repeat("s", 65)} {
		if err := natsbus.CheckStream(name); err == nil {
			t.Errorf("%q is a name of a stream", name)
		}
	}
	if _, err := natsbus.New(t.Context(), connect(t, serve(t)), &sized{}, nil, natsbus.Config{Stream: "a.b"}); err == nil || !strings.Contains(err.Error(), `"a.b" is no name of a stream`) {
		t.Errorf("got %v", err)
	}
}

// TestDeploymentsWithStreamsOfTheirOwn share a NATS, and nothing else.
func TestDeploymentsWithStreamsOfTheirOwn(t *testing.T) {
	nc := connect(t, serve(t))
	one, other := open(t, nc, &sized{}, natsbus.Config{Stream: "ONE"}), open(t, nc, &sized{}, natsbus.Config{Stream: "OTHER"})
	ofOne, ofOther := listen(t, one, "indexer", bus.Options{}), listen(t, other, "indexer", bus.Options{})
	publish(t, other, export("s", "01"))
	publish(t, one, export("s", "02"))
	begins(t, ofOne, "02")
	begins(t, ofOther, "01")
}
