package natsbus_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/nats-io/nats.go/jetstream"

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
