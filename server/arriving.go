package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// arriving gives a client Limits.Read for the body of its request, whoever reads it: also net/http, which reads what a
// handler left over before it answers, and would wait for it for ever. The request is a copy: net/http looks at what it
// made itself to see whether the connection can be used again. What is read takes room until leave is called.
func (s *Server) arriving(w *patient, r *http.Request) (leave func()) {
	if r.Body == nil || r.Body == http.NoBody {
		return func() {}
	}
	// What has no deadlines is not of the network.
	timed := w.control.SetReadDeadline(time.Now().Add(s.config.Limits.Read)) == nil
	body := &arrival{ReadCloser: r.Body, control: w.control, over: !timed, room: &s.room}
	r.Body, RecordOf(r.Context()).body = body, body
	return func() { body.room.leave(body.taken) }
}

// arrival is a body with a deadline, which is taken away at its end: net/http reads on then, to see whether the client is
// still there, and would take the deadline for the client's end.
type arrival struct {
	io.ReadCloser
	control *http.ResponseController
	over    bool // there is no deadline any more
	room    *room
	taken   int64
	aside   bool // what is read is not kept in memory
	crowded bool // there was no room
}

func (a *arrival) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	if !a.aside {
		if a.crowded = a.crowded || !a.room.take(int64(n)); a.crowded {
			return 0, errCrowded
		}
		a.taken += int64(n)
	}
	if errors.Is(err, io.EOF) {
		if failed := a.end(); failed != nil {
			err = failed
		}
	}
	return n, err
}

// end takes the deadline away.
func (a *arrival) end() error {
	if a.over {
		return nil
	}
	a.over = true
	return a.control.SetReadDeadline(time.Time{})
}

// awaited takes the deadline of reading away, however much of the body was read: from now on the connection is only
// watched for its end.
func awaited(ctx context.Context) error {
	body := RecordOf(ctx).body
	if body == nil {
		return nil
	}
	return body.end()
}
