package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/access"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/sse"
)

// heartbeat is how often a stream of events shows that it is alive while nothing happens.
const heartbeat = 15 * time.Second

func (s *Server) registerEvents(api huma.API) {
	const about = "Without more it is a page, oldest first, whose next is given always, so that what comes later can be asked for with it. " +
		"With Accept: text/event-stream it is a stream of what happens from now on, or after the cursor or the Last-Event-ID that is given, " +
		"each event once and in the same order for everybody. An event has the name of its kind, and its data is what stands in a page."
	answers := map[string]*huma.MediaType{
		"application/json": {Schema: api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[eventsDoc](), true, "")},
		sse.ContentType:    {Schema: &huma.Schema{Type: huma.TypeString}},
	}
	handle(s, api, route{
		method: http.MethodGet, path: "/events", id: "listEvents", tag: "events",
		summary: "What was announced, such as compressions and snapshots: a page, or a stream", about: about, answers: answers,
	}, func(ctx context.Context, eng *turnstone.Engine, in *EventsQuery) (*streamed, error) {
		return s.events(ctx, eng, "", in)
	})
	handle(s, api, route{
		method: http.MethodGet, path: "/sessions/{session}/events", id: "listSessionEvents", tag: "events",
		summary: "What was announced of a session: a page, or a stream", about: about, answers: answers,
	}, func(ctx context.Context, eng *turnstone.Engine, in *sessionEventsInput) (*streamed, error) {
		if _, err := eng.Find(ctx, in.Session); err != nil {
			return nil, err
		}
		return s.events(ctx, eng, in.Session, &in.EventsQuery)
	})
}

// announced is an event.
type announced struct {
	ID      string          `json:"id"`
	Session string          `json:"session_id,omitempty"`
	Kind    event.Kind      `json:"kind" doc:"what happened"`
	TurnID  string          `json:"turn_id,omitempty" doc:"the turn that opened the exchange it happened in"`
	At      string          `json:"at" format:"date-time"`
	Data    json.RawMessage `json:"data,omitempty" doc:"what there is to say about it"`
}

func newAnnounced(e event.Event) announced {
	made := announced{ID: e.ID, Session: e.Session, Kind: e.Kind, TurnID: e.TurnID, At: timeText(e.At)}
	if json.Valid([]byte(e.Data)) {
		made.Data = json.RawMessage(e.Data)
	}
	return made
}

type eventDoc struct {
	ID      string `json:"id"`
	Session string `json:"session_id,omitempty"`
	Kind    string `json:"kind" doc:"what happened"`
	TurnID  string `json:"turn_id,omitempty" doc:"the turn that opened the exchange it happened in"`
	At      string `json:"at" format:"date-time"`
	Data    object `json:"data,omitempty" doc:"what there is to say about it"`
}

type eventsDoc struct {
	Items []eventDoc `json:"items"`
	Next  string     `json:"next,omitempty" doc:"the cursor of what comes after; none where nothing was announced yet"`
}

// EventsQuery is the part of a request that says which events are asked for, and how. It is exported for huma, which reads it.
type EventsQuery struct {
	Cursor      string `query:"cursor" maxLength:"256" doc:"where to go on: the next of a page, or the id of an event of a stream"`
	Limit       int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"how many there are on a page at most"`
	From        string `query:"from" enum:"now,start" default:"now" doc:"where a stream begins that has no cursor"`
	Accept      string `header:"Accept" doc:"text/event-stream for a stream"`
	LastEventID string `header:"Last-Event-ID" maxLength:"256" doc:"where a stream goes on: the id of the last event that was seen"`
}

type sessionEventsInput struct {
	InSession
	EventsQuery
}

// beginning is where a stream goes on that was cut off before anything was announced. Without an id it would go on from
// the moment it comes back.
const beginning = "0"

func (s *Server) events(ctx context.Context, eng *turnstone.Engine, session string, in *EventsQuery) (*streamed, error) {
	if strings.Contains(strings.ToLower(in.Accept), sse.ContentType) {
		return s.eventStream(ctx, eng, session, in)
	}
	after := in.Cursor
	if after == beginning {
		after = ""
	}
	list, err := eng.Events(ctx, session, after, in.Limit)
	if err != nil {
		return nil, misplaced(err, "cursor")
	}
	if len(list) == 0 && after != "" {
		if err := reached(ctx, eng, after, "cursor"); err != nil {
			return nil, err
		}
	}
	shown := pageOf(list, newAnnounced)
	shown.Next = in.Cursor
	if list = placed(list); len(list) > 0 {
		shown.Next = place(list[len(list)-1])
	}
	var text bytes.Buffer
	if err := jsonFormat.Marshal(&text, shown); err != nil {
		return nil, err
	}
	return written("application/json", text.Bytes()), nil
}

// misplaced names what of a request is no cursor.
func misplaced(err error, name string) error {
	if as[*invalid.Field](err) {
		return invalid.New(name, "it is not a cursor", "use one that came with an event")
	}
	return err
}

// reached refuses a cursor that no event had yet, such as one of another store: whoever went on from there would miss all
// events until then.
func reached(ctx context.Context, eng *turnstone.Engine, cursor, name string) error {
	asked, err := event.ParseCursor(cursor)
	if err != nil {
		return err
	}
	newest, err := eng.LastEvent(ctx)
	if err != nil {
		return err
	}
	last, err := event.ParseCursor(newest)
	if err == nil && asked > last {
		return invalid.New(name, "no event has come so far", "use one that came with an event")
	}
	return err
}

// eventStream subscribes, so that what is wrong is told as any other problem, and then tells what happens.
func (s *Server) eventStream(ctx context.Context, eng *turnstone.Engine, session string, in *EventsQuery) (*streamed, error) {
	after := cmp.Or(in.LastEventID, in.Cursor)
	resumed := after != "" || in.From == "start"
	if after == beginning {
		after = ""
	}
	if after != "" {
		name := "cursor"
		if in.LastEventID != "" {
			name = "Last-Event-ID"
		}
		// What is no cursor is refused before anything is sent.
		more, err := eng.Events(ctx, session, after, 1)
		if err != nil {
			return nil, misplaced(err, name)
		}
		if len(more) == 0 {
			if err := reached(ctx, eng, after, name); err != nil {
				return nil, err
			}
		}
	}
	sub, err := s.hub.subscribe(ctx, eng.Tenant(), eng, session)
	if err != nil {
		return nil, err
	}
	// Where the time to begin is over just now, nobody runs the body below.
	context.AfterFunc(ctx, sub.leave)
	if resumed {
		sub.resume(after)
	}
	return &streamed{ContentType: sse.ContentType, Body: func(hctx huma.Context) {
		defer sub.leave()
		r, w := humago.Unwrap(hctx)
		if err := s.tellEvents(r, w, sub); err != nil {
			record := RecordOf(hctx.Context())
			record.Err = errors.Join(record.Err, err)
		}
	}}, nil
}

// tellEvents writes what the subscriber is told until one of both sides ends, or the key of the request opens nothing any
// more. A client that was cut off goes on after the last id that it saw.
func (s *Server) tellEvents(r *http.Request, w http.ResponseWriter, sub *subscriber) error {
	ctx := r.Context()
	out, err := sse.Begin(w, s.config.Limits.Write)
	if err != nil {
		return err
	}
	if err := out.Send(sse.Event{ID: cmp.Or(sub.cursor, beginning), Retry: hubPoll}); err != nil {
		return err
	}
	for {
		frames, err := sub.next(ctx, heartbeat)
		// A store that cannot be asked for the key is no reason to end.
		if _, gone := s.caller(r); errors.Is(gone, access.ErrUnknownKey) {
			return gone
		}
		switch {
		case errors.Is(err, errHubClosed) || ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case len(frames) == 0:
			err = out.Comment("alive")
		default:
			sent := make([][]byte, len(frames))
			for i, f := range frames {
				sent[i] = f.bytes
			}
			err = out.Frames(sent...)
		}
		if err != nil {
			return err
		}
	}
}

// place is the cursor behind an event.
func place(e event.Event) string { return e.Cursor() }

// placed are the events of a page that have their places: all, unless the store cannot be written to.
func placed(list []event.Event) []event.Event {
	if i := slices.IndexFunc(list, func(e event.Event) bool { return place(e) == "" }); i >= 0 {
		return list[:i]
	}
	return list
}
