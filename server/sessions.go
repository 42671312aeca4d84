package server

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/turn"
)

func (s *Server) registerSessions(api huma.API) {
	handle(s, api, route{
		method: http.MethodGet, path: "/sessions", id: "listSessions", tag: "sessions",
		summary: "List sessions, newest first",
	}, listSessions)
	handle(s, api, route{
		method: http.MethodPost, path: "/sessions", id: "createSession", tag: "sessions", status: http.StatusCreated,
		summary: "Create a session", about: "Without an id one is made.",
	}, createSession)
	handleSession(s, api, route{
		method: http.MethodGet, path: "/sessions/{session}", id: "getSession", tag: "sessions",
		summary: "What is known of a session",
	}, showSession)
	handleSession(s, api, route{
		method: http.MethodPatch, path: "/sessions/{session}", id: "describeSession", tag: "sessions",
		summary: "Change what a session is described with", about: "What is empty or left out stays as it is.",
	}, describeSession)
	handleSession(s, api, route{
		method: http.MethodPost, path: "/sessions/{session}/end", id: "endSession", tag: "sessions", pace: slow,
		summary: "End a session",
		about:   "Tool calls left open are closed as cancelled, and the session's bundle is written where the server was told a folder for it. Appending to an ended session goes on with it: it is active again, which reopened in the answer and the event session-reopened say.",
	}, endSession)
	handleSession(s, api, route{
		method: http.MethodPost, path: "/sessions/{session}/fork", id: "forkSession", tag: "sessions", status: http.StatusCreated,
		summary: "Make a session that shares another's turns up to a point",
		about:   "The turns are not copied. What the body leaves empty is taken from the session; without an id one is made.",
	}, forkSession)
	handleSession(s, api, route{
		method: http.MethodGet, path: "/sessions/{session}/bookmarks", id: "listBookmarks", tag: "sessions",
		summary: "The named positions of a session, by name",
	}, listBookmarks)
	handleSession(s, api, route{
		method: http.MethodPost, path: "/sessions/{session}/bookmarks", id: "createBookmark", tag: "sessions", status: http.StatusCreated,
		summary: "Name a position of a session", about: "A bookmark never moves.",
	}, createBookmark)
}

// Session is a conversation as clients are shown it. It is exported for huma, which reads it where it is embedded.
type Session struct {
	Session      string `json:"session_id"`
	Tenant       string `json:"tenant"`
	User         string `json:"user,omitempty"`
	Title        string `json:"title,omitempty" doc:"what it is about; [forgotten] where it was forgotten as a whole"`
	Model        string `json:"model,omitempty"`
	Mode         string `json:"mode,omitempty"`
	Status       string `json:"status" enum:"active,ended"`
	Parent       string `json:"parent,omitempty" doc:"the session it was forked from"`
	ForkSeq      int64  `json:"fork_seq,omitempty" doc:"after which turn of its parent it was forked"`
	Turns        int64  `json:"turns" doc:"how many have a number: turns, and the summaries in the log"`
	CreatedAt    string `json:"created_at" format:"date-time"`
	LastActivity string `json:"last_activity" format:"date-time"`
}

func newSession(s turn.SessionInfo) Session {
	return Session{
		Session: s.Session, Tenant: s.Tenant, User: s.User, Title: s.Title, Model: s.Model, Mode: s.Mode,
		Status: string(s.Status), Parent: s.Parent, ForkSeq: s.ForkSeq, Turns: s.Head,
		CreatedAt: timeText(s.CreatedAt), LastActivity: timeText(s.LastActivity),
	}
}

func timeText(t time.Time) string { return t.UTC().Format(turn.TimeFormat) }

type listSessionsInput struct {
	Paging
	User   string `query:"user" doc:"only sessions of this user"`
	Status string `query:"status" enum:"active,ended" doc:"only active or ended sessions"`
	Idle   int    `query:"idle_minutes" minimum:"1" doc:"only sessions without activity for so long"`
}

const sessionList = "sessions"

func listSessions(ctx context.Context, eng *turnstone.Engine, in *listSessionsInput) (*answer[page[Session]], error) {
	before, err := sessionBefore(ctx, eng, in.Cursor)
	if err != nil {
		return nil, err
	}
	f := turn.SessionFilter{User: in.User, Status: turn.Status(in.Status), Before: before, Limit: in.Limit + 1}
	if in.Idle > 0 {
		f.IdleSince = time.Now().Add(-time.Duration(in.Idle) * time.Minute)
	}
	list, err := eng.Sessions(ctx, f)
	if err != nil {
		return nil, err
	}
	return answered(cut(list, in.Limit, newSession, func(s turn.SessionInfo) string {
		return cursorOf(sessionList, s.Session)
	})), nil
}

// sessionBefore is where a list of sessions goes on. Its cursor is the id of a session: the numbers of all tenants' are
// counted together, and would tell how many the others have.
func sessionBefore(ctx context.Context, eng *turnstone.Engine, cursor string) (int64, error) {
	id, err := placeOf(sessionList, cursor)
	if id == "" || err != nil {
		return 0, err
	}
	s, err := eng.Named(id)
	if err != nil {
		return 0, misplacedCursor("cursor")
	}
	info, err := s.Info(ctx)
	if errors.Is(err, turn.ErrNotFound) {
		return 0, misplacedCursor("cursor")
	}
	return info.Segment, err
}

type createSessionInput struct {
	Body SessionDraft
}

// SessionDraft is a session that is to be made. It is exported for huma, which reads it where it is embedded.
type SessionDraft struct {
	Session string `json:"session_id,omitempty" doc:"1 to 128 letters, digits and . _ : -"`
	User    string `json:"user,omitempty" doc:"who talks"`
	Title   string `json:"title,omitempty" doc:"what it is about"`
	Model   string `json:"model,omitempty" doc:"which model answers"`
	Mode    string `json:"mode,omitempty" doc:"what summaries preserve: developer, planning, assistant or debugger"`
}

func (d SessionDraft) info() turn.SessionInfo {
	return turn.SessionInfo{Key: turn.Key{Session: d.Session}, User: d.User, Title: d.Title, Model: d.Model, Mode: d.Mode}
}

// asSent calls what is wrong with a draft by the name that clients have for it.
func asSent(err error) error {
	var field *invalid.Field
	if errors.As(err, &field) && field.Name == "session" {
		return invalid.New("session_id", field.Problem, field.Fix)
	}
	return err
}

func createSession(ctx context.Context, eng *turnstone.Engine, in *createSessionInput) (*answer[Session], error) {
	made, err := eng.Create(ctx, in.Body.info())
	if err != nil {
		return nil, asSent(err)
	}
	info, err := made.Info(ctx)
	if err != nil {
		return nil, err
	}
	return answered(newSession(info)), nil
}
