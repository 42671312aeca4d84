package client

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"time"
)

// Session is one conversation on a server. It is a handle, which holds nothing but the id, and is safe for concurrent use.
type Session struct {
	client *Client
	id     string
}

// ID is the session's id.
func (s *Session) ID() string { return s.id }

// SessionInfo is what a session is described with.
type SessionInfo struct {
	ID           string    `json:"session_id"`
	Tenant       string    `json:"tenant"`
	User         string    `json:"user"`
	Title        string    `json:"title"`
	Model        string    `json:"model"`
	Mode         string    `json:"mode"`
	Status       string    `json:"status"`   // "active" or "ended"
	Parent       string    `json:"parent"`   // the session it was forked from
	ForkSeq      int64     `json:"fork_seq"` // after which turn of it
	Turns        int64     `json:"turns"`    // how many have a number: turns, and the summaries in the log
	CreatedAt    time.Time `json:"created_at"`
	LastActivity time.Time `json:"last_activity"`
}

// About is what a session is to be described with. What is empty is left to the server, or stays as it is.
type About struct {
	User  string `json:"user,omitempty"`
	Title string `json:"title,omitempty"`
	Model string `json:"model,omitempty"` // which model answers
	Mode  string `json:"mode,omitempty"`
}

type sessionDraft struct {
	ID string `json:"session_id,omitempty"`
	About
}

// Session returns the session of that id, which is made where there is none.
func (c *Client) Session(ctx context.Context, id string) (*Session, error) {
	s, err := c.Find(ctx, id)
	if !errors.Is(err, NotFound) {
		return s, err
	}
	s, err = c.Create(ctx, id, About{})
	if errors.Is(err, Conflict) {
		return c.Find(ctx, id) // somebody else was faster
	}
	return s, err
}

// Find returns a session that is there. [NotFound] where there is none.
func (c *Client) Find(ctx context.Context, id string) (*Session, error) {
	s := &Session{client: c, id: id}
	if _, err := s.Info(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Create makes a session. Without an id the server makes one. [Conflict] where there is one already.
func (c *Client) Create(ctx context.Context, id string, about About) (*Session, error) {
	made, err := ask[SessionInfo](ctx, c, call{method: http.MethodPost, path: "/sessions", in: sessionDraft{id, about}})
	if err != nil {
		return nil, err
	}
	return &Session{client: c, id: made.ID}, nil
}

// SessionFilter says which sessions are listed. The zero value is all of them.
type SessionFilter struct {
	User        string
	Status      string // "active" or "ended"
	IdleMinutes int    // only those without activity for so long
}

// Sessions lists sessions, newest first, page by page. An error ends it.
func (c *Client) Sessions(ctx context.Context, f SessionFilter) iter.Seq2[SessionInfo, error] {
	return all[SessionInfo](ctx, c, "/sessions", asked("user", f.User, "status", f.Status, "idle_minutes", f.IdleMinutes))
}

// Info is what the session is described with now.
func (s *Session) Info(ctx context.Context) (SessionInfo, error) {
	return ask[SessionInfo](ctx, s.client, call{method: http.MethodGet, path: path("/sessions/%s", s.id), again: true})
}

// Describe changes what the session is described with. What is empty stays as it is.
func (s *Session) Describe(ctx context.Context, about About) (SessionInfo, error) {
	return ask[SessionInfo](ctx, s.client, call{method: http.MethodPatch, path: path("/sessions/%s", s.id), in: about})
}

// End ends the session. Appending to it goes on with it.
func (s *Session) End(ctx context.Context) error {
	return s.client.do(ctx, call{method: http.MethodPost, path: path("/sessions/%s/end", s.id)}, nil)
}

type forkDraft struct {
	sessionDraft
	At int64 `json:"at"`
}

// Fork makes a session that shares this one's turns up to a turn. Without an id the server makes one.
func (s *Session) Fork(ctx context.Context, id string, at int64) (*Session, error) {
	made, err := ask[SessionInfo](ctx, s.client, call{
		method: http.MethodPost, path: path("/sessions/%s/fork", s.id), in: forkDraft{sessionDraft{ID: id}, at},
	})
	if err != nil {
		return nil, err
	}
	return &Session{client: s.client, id: made.ID}, nil
}
