package server

import (
	"context"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/event"
)

// subscriber is somebody who is told of events, each once and in the order of the store. A slow one holds up nobody: of
// what waits for it no more than hubPending events are kept, and one that is further behind goes on from the store,
// after the last event that it was given. It is for one goroutine.
type subscriber struct {
	hub     *hub
	feed    *feed
	session string        // empty for those of all sessions
	wake    chan struct{} // has room for one: something waits

	// cursor is behind what was given last: where to go on after this subscriber is gone.
	cursor  string
	reading bool // goes on from the store
	far     bool // more than a page was read from the store since the last sync

	// Guarded by feed.mu.
	started bool
	end     string // up to where the feed had read when it was synced
	pending []*frame
	behind  bool // more came than is kept
}

// resume has the subscriber go on after a cursor, which it was given earlier or by another replica.
func (s *subscriber) resume(after string) {
	s.reading = after != s.cursor
	s.cursor = after
}

// leave ends the subscription. Leaving again changes nothing.
func (s *subscriber) leave() { s.feed.remove(s) }

// next waits for events and returns them; none where nothing came for so long. Errors are those of the store and of
// ctx, and errHubClosed.
func (s *subscriber) next(ctx context.Context, wait time.Duration) ([]*frame, error) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		if s.reading {
			frames, err := s.read(ctx)
			if err != nil || len(frames) > 0 {
				return frames, err
			}
			continue
		}
		frames, behind := s.take()
		if behind {
			if err := s.feed.sync(ctx, s, true); err != nil {
				return nil, err
			}
			s.reading = true
			continue
		}
		if len(frames) > 0 {
			s.cursor = frames[len(frames)-1].cursor
			return frames, nil
		}
		select {
		case <-s.wake:
		case <-timer.C:
			return nil, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-s.hub.closed:
			return nil, errHubClosed
		}
	}
}

// read returns the next page from the store. What is read after a sync may wait in memory too: as long as it is one
// page it is taken out there, and where it was more the subscriber is synced again before it reads on.
func (s *subscriber) read(ctx context.Context) ([]*frame, error) {
	page, err := s.page(ctx)
	if err != nil {
		return nil, err
	}
	if len(page) > 0 {
		s.cursor = place(page[len(page)-1])
	}
	switch {
	case len(page) == hubPage:
		s.far = true
	case s.far:
		s.far = false
		if err := s.feed.sync(ctx, s, true); err != nil {
			return nil, err
		}
	case len(page) > 0:
		if err := s.feed.sync(ctx, s, false); err != nil {
			return nil, err
		}
		s.drop(page)
		s.reading = false
	default:
		s.reading = false
	}
	frames := make([]*frame, len(page))
	for i, e := range page {
		frames[i] = newFrame(e)
	}
	return frames, nil
}

// page reads from the store when few others do.
func (s *subscriber) page(ctx context.Context) ([]event.Event, error) {
	select {
	case s.hub.readers <- struct{}{}:
		defer func() { <-s.hub.readers }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-s.hub.closed:
		return nil, errHubClosed
	}
	page, err := s.feed.from.Events(ctx, s.session, s.cursor, hubPage)
	return placed(page), err
}

// take returns what waits. Behind says that more came than is kept.
func (s *subscriber) take() (frames []*frame, behind bool) {
	s.feed.mu.Lock()
	defer s.feed.mu.Unlock()
	frames, s.pending = s.pending, nil
	return frames, s.behind
}

// drop takes events out of what waits.
func (s *subscriber) drop(page []event.Event) {
	s.feed.mu.Lock()
	defer s.feed.mu.Unlock()
	s.pending = slices.DeleteFunc(s.pending, func(f *frame) bool {
		return slices.ContainsFunc(page, func(e event.Event) bool { return place(e) == f.cursor })
	})
}

// start is called when everything up to the end was read, and what waited is older than that. The caller holds
// feed.mu.
func (s *subscriber) start(end string) {
	s.started, s.end, s.pending, s.behind = true, end, nil, false
}

// put adds an event to what waits. The caller holds feed.mu.
func (s *subscriber) put(made *frame) {
	switch {
	case !s.started || s.behind:
		return
	case len(s.pending) == hubPending:
		s.pending, s.behind = nil, true
	default:
		s.pending = append(s.pending, made)
	}
	nudge(s.wake)
}
