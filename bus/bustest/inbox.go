package bustest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/event"
)

// inbox is a handler that keeps what it was given.
type inbox struct {
	mu       sync.Mutex // guards all below
	messages []event.Message
	changed  chan struct{} // closed when a message came
}

func newInbox() *inbox { return &inbox{changed: make(chan struct{})} }

func (in *inbox) handle(_ context.Context, m event.Message) (int, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.messages = append(in.messages, m)
	close(in.changed)
	in.changed = make(chan struct{})
	return 1, nil
}

// wait returns what came when it is n messages or more.
func (in *inbox) wait(t *testing.T, n int) []event.Message {
	t.Helper()
	for late := time.After(patience); ; {
		in.mu.Lock()
		got, changed := slices.Clone(in.messages), in.changed
		in.mu.Unlock()
		if len(got) >= n {
			return got
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("%d messages after %v, want %d", len(got), patience, n)
		}
	}
}

// ids waits for n messages and returns the export ids of a session in the order they came.
func (in *inbox) ids(t *testing.T, n int, session string) []string {
	t.Helper()
	return idsOf(in.wait(t, n), session)
}

func idsOf(messages []event.Message, session string) []string {
	var got []string
	for _, m := range messages {
		if m.Session == session {
			got = append(got, m.ID)
		}
	}
	return got
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %d %v, want %d %v", what, len(got), got, len(want), want)
	}
}
