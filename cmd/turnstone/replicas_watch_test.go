package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/internal/sse"
)

// watcher looks on at one server, and goes on after the last event that it saw when that is back.
type watcher struct {
	t  *testing.T
	of *replica

	mu   sync.Mutex // guards seen
	seen []string   // ids of events
	more chan struct{}
}

// watch begins to look on. It ends with the test.
func watch(t *testing.T, r *replica) *watcher {
	w := &watcher{t: t, of: r, more: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		last := ""
		for ctx.Err() == nil {
			// It ends when the server does, which says nothing.
			w.follow(ctx, &last)
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-over
	})
	return w
}

// follow notes events until the connection breaks.
func (w *watcher) follow(ctx context.Context, last *string) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.of.base+"/api/v1/events?from=start", nil)
	if err != nil {
		w.t.Error(err)
		return
	}
	r.Header.Set("Accept", sse.ContentType)
	if *last != "" {
		r.Header.Set("Last-Event-ID", *last)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		text, err := io.ReadAll(answer.Body)
		w.t.Logf("events: %d %s, %v", answer.StatusCode, text, err)
		return
	}
	events := sse.NewReader(answer.Body, 0)
	for {
		e, err := events.Next()
		if err != nil {
			return
		}
		var told struct{ ID string }
		if err := json.Unmarshal([]byte(e.Data), &told); err != nil {
			w.t.Error(err)
		}
		*last = e.ID
		w.mu.Lock()
		w.seen = append(w.seen, told.ID)
		w.mu.Unlock()
		select {
		case w.more <- struct{}{}:
		default:
		}
	}
}

var errFewer = errors.New("there are fewer")

// first waits until so many events were seen, and returns all that were.
func (w *watcher) first(ctx context.Context, n int) ([]string, error) {
	for {
		w.mu.Lock()
		seen := w.seen
		w.mu.Unlock()
		if len(seen) >= n {
			return seen, nil
		}
		select {
		case <-w.more:
		case <-ctx.Done():
			return seen, errFewer
		}
	}
}
