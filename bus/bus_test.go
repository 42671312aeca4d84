package bus_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/event"
)

func TestRejectKeepsTheError(t *testing.T) {
	if err := bus.Reject(errBroken); !errors.Is(err, errBroken) || err.Error() != "broken" {
		t.Errorf("got %v", err)
	}
	if err := bus.Reject(nil); err == nil || err.Error() != "rejected" {
		t.Errorf("got %v", err)
	}
}

func TestLetterOfACompletion(t *testing.T) {
	at := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	c := bus.Completion{Daemon: "d", Tenant: "t", Session: "s", ExportID: "2", TurnID: "u", Status: bus.Dead, Tries: 4, Error: "broken", At: at}
	want := event.Letter{Tenant: "t", Daemon: "d", ExportID: "2", Session: "s", TurnID: "u", Tries: 4, Error: "broken", At: at}
	if diff := cmp.Diff(want, c.Letter()); diff != "" {
		t.Error(diff)
	}
}

func TestOptionsHaveDefaults(t *testing.T) {
	got, err := bus.Options{}.WithDefaults()
	want := bus.Options{
		From: bus.Beginning, Parallel: 8, Timeout: 30 * time.Second,
		Backoff: []time.Duration{time.Second, 2 * time.Second, 4 * time.Second},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	set := bus.Options{From: bus.New, Parallel: 1, Timeout: 2, Backoff: []time.Duration{0, 3}}
	if got, err := set.WithDefaults(); !cmp.Equal(got, set) || err != nil {
		t.Errorf("got %+v, %v", got, err)
	}
}
