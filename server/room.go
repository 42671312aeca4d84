package server

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
)

// room is how much memory the bodies of all requests under way may take together. It is counted by what was read, not by
// what was announced: who announces much and sends nothing keeps nobody out.
type room struct {
	most int64
	used atomic.Int64
}

func (r *room) take(n int64) bool {
	if r.used.Add(n) > r.most {
		r.used.Add(-n)
		return false
	}
	return true
}

func (r *room) leave(n int64) { r.used.Add(-n) }

// errCrowded is what reading a body ends with that has no room any more.
var errCrowded = errors.New("no room for the body")

// crowded is what a client is told then.
func crowded() *Problem {
	p := refuse(http.StatusServiceUnavailable, "the requests under way take all the memory that there is for them; wait as Retry-After says")
	p.RetryAfter = 1
	return p
}

// noRoom reports whether a request is one whose body had no room.
func noRoom(ctx context.Context) bool {
	body := RecordOf(ctx).body
	return body != nil && body.crowded
}

// fits refuses a request that announces more than there is room for now.
func (s *Server) fits(r *http.Request) error {
	if r.ContentLength > 0 && s.room.used.Load()+r.ContentLength > s.room.most {
		return crowded()
	}
	return nil
}

// roomy has a handler answer requests that there is room for. The others are told no, whatever the handler makes of a
// body that breaks off.
func (s *Server) roomy(no func(http.ResponseWriter, *http.Request, error), next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.fits(r); err != nil {
			no(w, r, err)
			return
		}
		if r.ContentLength != 0 {
			w = &corrected{ResponseWriter: w, wrong: func() bool { return noRoom(r.Context()) }, instead: func(w http.ResponseWriter) { no(w, r, crowded()) }}
		}
		next.ServeHTTP(w, r)
	})
}

// corrected is a response in whose place another is sent, if it is wrong when it begins.
type corrected struct {
	http.ResponseWriter
	wrong   func() bool
	instead func(http.ResponseWriter)
	begun   bool
	dropped bool // what is written goes nowhere
}

// Unwrap is for [http.ResponseController].
func (c *corrected) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *corrected) begin() {
	if c.begun {
		return
	}
	c.begun = true
	if c.dropped = c.wrong(); c.dropped {
		c.Header().Del("Content-Length")
		c.instead(c.ResponseWriter)
	}
}

func (c *corrected) WriteHeader(status int) {
	if c.begin(); !c.dropped {
		c.ResponseWriter.WriteHeader(status)
	}
}

func (c *corrected) Write(b []byte) (int, error) {
	if c.begin(); c.dropped {
		return len(b), nil
	}
	return c.ResponseWriter.Write(b)
}
