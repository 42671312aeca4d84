package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"time"

	"github.com/turnstone-dev/turnstone/internal/pause"
	"github.com/turnstone-dev/turnstone/internal/sse"
)

// silence is how long a stream may say nothing before it is taken for dead. A server says something every 15 seconds.
const silence = 45 * time.Second

// Event is something that was announced, such as a compression or a snapshot.
type Event struct {
	ID      string          `json:"id"`
	Session string          `json:"session_id"`
	Kind    string          `json:"kind"`
	TurnID  string          `json:"turn_id"` // the turn that opened the exchange it happened in
	At      time.Time       `json:"at"`
	Data    json.RawMessage `json:"data"`

	// Cursor is the event's place: give it as EventsFrom.After to go on behind it, also in another process.
	Cursor string `json:"-"`
}

// EventsFrom says where a stream of events begins. The zero value is now.
type EventsFrom struct {
	After string // the Cursor of an event
	Start bool   // the first that the server has
}

// Events tells what happens in all sessions, in the same order for everybody and each event once, until ctx ends or an
// error does. A stream that is cut off is begun again behind the last event, within a minute whatever the server asks for:
// only what it refuses ends the stream, and a server that could not be reached in the first place, or was none of ours.
func (c *Client) Events(ctx context.Context, from EventsFrom) iter.Seq2[Event, error] {
	return c.events(ctx, "/events", from)
}

// Events is [Client.Events] for one session.
func (s *Session) Events(ctx context.Context, from EventsFrom) iter.Seq2[Event, error] {
	return s.client.events(ctx, path("/sessions/%s/events", s.id), from)
}

func (c *Client) events(ctx context.Context, path string, from EventsFrom) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		f := &follower{client: c, path: path, from: from, yield: yield}
		for failures := 0; ; failures++ {
			heard, err := f.follow(ctx)
			if f.done {
				return
			}
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			if !f.begun || ctx.Err() != nil || !resumable(err) {
				yield(Event{}, err)
				return
			}
			if heard {
				failures = 0
			}
			if !pause.For(ctx, min(max(f.retry, pauseAfter(failures), retryAfter(err)), mostPatience)) {
				yield(Event{}, context.Cause(ctx))
				return
			}
		}
	}
}

// resumable reports whether a stream that ended with an error can be begun again: not where the server would say the
// same once more.
func resumable(err error) bool {
	var p *Problem
	if errors.As(err, &p) {
		return p.Status >= http.StatusInternalServerError || passing(err)
	}
	var garbled *unreadable
	return !errors.As(err, &garbled) && !errors.Is(err, sse.ErrTooLong)
}

// unreadable is an event that is none.
type unreadable struct{ error }

func (u *unreadable) Unwrap() error { return u.error }

// follower reads one stream after the other.
type follower struct {
	client *Client
	path   string
	from   EventsFrom
	yield  func(Event, error) bool
	last   string        // the id to go on after
	retry  time.Duration // how long the server wants it to be waited
	begun  bool          // the server was reached once
	done   bool          // nobody reads any more
}

// follow reads a stream to its end, and reports whether anything was heard.
func (f *follower) follow(ctx context.Context) (heard bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	query := asked("cursor", f.from.After)
	if f.from.Start && f.from.After == "" {
		query.Set("from", "start")
	}
	quiet := time.AfterFunc(silence, cancel)
	defer quiet.Stop()
	if !f.begun {
		quiet.Stop() // it may be asked several times, and whoever waits for the first answer says for how long
	}
	what := call{method: http.MethodGet, path: f.path, query: query, accept: sse.ContentType, last: f.last, again: !f.begun}
	answer, err := f.client.send(ctx, what)
	if err != nil {
		return false, err
	}
	defer answer.Body.Close() // it has ended, or is not wanted any more
	f.begun = true
	quiet.Reset(silence)
	events := sse.NewReader(&watched{answer.Body, quiet}, 0)
	for {
		e, err := events.Next()
		if id := events.LastID(); id != "" && id != f.last { // a stream that was cut off at once knows of none
			heard, f.last = true, id
		}
		if f.retry = max(f.retry, events.Retry()); f.last == "" && events.Retry() > 0 {
			f.from.Start = true // the server had announced nothing yet when it was first asked
		}
		if err != nil {
			return heard, fmt.Errorf("events: %w", err)
		}
		told := Event{Cursor: e.ID}
		if err := json.Unmarshal([]byte(e.Data), &told); err != nil {
			return heard, &unreadable{fmt.Errorf("event %s: %w", e.ID, err)}
		}
		quiet.Stop() // whoever is told may take its time
		if !f.yield(told, nil) {
			f.done = true
			return heard, nil
		}
		quiet.Reset(silence)
	}
}

// watched notes that a stream is alive.
type watched struct {
	io.Reader
	quiet *time.Timer
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	if n > 0 {
		w.quiet.Reset(silence)
	}
	return n, err
}
