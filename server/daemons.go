package server

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/access"
	"github.com/turnstone-dev/turnstone/event"
)

func (s *Server) registerDaemons(api huma.API) {
	handle(s, api, route{
		method: http.MethodGet, path: "/daemons", id: "listDaemons", tag: "daemons", scope: access.Admin,
		summary: "The daemons that read exports from the store, and how far they have come",
		about:   "Daemons serve all tenants. Those that take exports from another bus do not show here.",
	}, listDaemons)
	handle(s, api, route{
		method: http.MethodGet, path: "/daemons/{daemon}/dead-letters", id: "listDaemonDeadLetters", tag: "daemons",
		summary: "Exports that a daemon could not handle, newest first",
	}, func(ctx context.Context, eng *turnstone.Engine, in *daemonInput) (*answer[page[letter]], error) {
		return deadLetters(ctx, eng, in.Daemon, in.Limit)
	})
	handle(s, api, route{
		method: http.MethodGet, path: "/dead-letters", id: "listDeadLetters", tag: "daemons",
		summary: "Exports that daemons could not handle, newest first",
	}, func(ctx context.Context, eng *turnstone.Engine, in *Most) (*answer[page[letter]], error) {
		return deadLetters(ctx, eng, "", in.Limit)
	})
	handle(s, api, route{
		method: http.MethodGet, path: "/deferrals", id: "listDeferrals", tag: "daemons",
		summary: "Parts of commits that could not be written yet and are tried again, oldest first",
		about:   "A part that was given up stays here for 7 days.",
	}, deferrals)
}

// daemon is who receives exports.
type daemon struct {
	Daemon  string `json:"daemon"`
	Through int64  `json:"through" doc:"the number up to which every export was handled"`
	Waiting int64  `json:"waiting" doc:"how many were published behind that"`
	Working bool   `json:"working" doc:"whether somebody serves it"`
}

func listDaemons(ctx context.Context, eng *turnstone.Engine, _ *nothing) (*answer[page[daemon]], error) {
	marks, last, err := eng.Daemons(ctx)
	if err != nil {
		return nil, err
	}
	return answered(pageOf(marks, func(m event.Mark) daemon {
		return daemon{
			Daemon: m.Daemon, Through: m.Through, Waiting: max(last-m.Through, 0), Working: m.Holder != "" && m.Until.After(time.Now()),
		}
	})), nil
}

// letter is an export that a daemon could not handle.
type letter struct {
	Daemon  string `json:"daemon"`
	Export  string `json:"export_id"`
	Session string `json:"session_id"`
	TurnID  string `json:"turn_id"`
	Tries   int    `json:"tries"`
	Error   string `json:"error"`
	At      string `json:"at" format:"date-time"`
}

// Most is the part of a request that bounds a list without pages. It is exported for huma, which reads it.
type Most struct {
	Limit int `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"how many at most"`
}

type daemonInput struct {
	Most
	Daemon string `path:"daemon" minLength:"1" maxLength:"128" doc:"the daemon's name"`
}

func deadLetters(ctx context.Context, eng *turnstone.Engine, daemon string, limit int) (*answer[page[letter]], error) {
	letters, err := eng.DeadLetters(ctx, daemon, limit)
	if err != nil {
		return nil, err
	}
	return answered(pageOf(letters, func(l event.Letter) letter {
		return letter{l.Daemon, l.ExportID, l.Session, l.TurnID, l.Tries, l.Error, timeText(l.At)}
	})), nil
}

// deferral is a part of a commit that could not be written.
type deferral struct {
	Session string `json:"session_id"`
	Export  string `json:"export_id"`
	Target  string `json:"target" doc:"memory, cortex, scratch or history"`
	Tries   int    `json:"tries"`
	Next    string `json:"next,omitempty" format:"date-time" doc:"when it is tried next"`
	GivenUp string `json:"given_up,omitempty" format:"date-time"`
	Error   string `json:"error" doc:"why it was not written the last time"`
	At      string `json:"at" format:"date-time"`
}

func deferrals(ctx context.Context, eng *turnstone.Engine, _ *nothing) (*answer[page[deferral]], error) {
	all, err := eng.Deferrals(ctx)
	if err != nil {
		return nil, err
	}
	return answered(pageOf(all, func(d event.Deferral) deferral {
		made := deferral{Session: d.Session, Export: d.ExportID, Target: d.Target, Tries: d.Tries, Error: d.Error, At: timeText(d.At)}
		if d.Escalated.IsZero() {
			made.Next = timeText(d.Next)
		} else {
			made.GivenUp = timeText(d.Escalated)
		}
		return made
	})), nil
}
