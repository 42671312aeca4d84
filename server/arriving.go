package server

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// arriving gives a client Limits.Read for the body of its request, whoever reads it: also net/http, which reads what a
// handler left over before it answers, and would wait for it for ever. The request is a copy: net/http looks at what it
// made itself to see whether the connection can be used again.
func (s *Server) arriving(w *patient, r *http.Request) {
	if r.Body == nil || r.Body == http.NoBody {
		return
	}
	if err := w.control.SetReadDeadline(time.Now().Add(s.config.Limits.Read)); err != nil {
		return // not of the network
	}
	r.Body = &arrival{ReadCloser: r.Body, control: w.control}
}

// arrival is a body with a deadline, which is taken away at its end: net/http reads on then, to see whether the client is
// still there, and would take the deadline for the client's end.
type arrival struct {
	io.ReadCloser
	control *http.ResponseController
}

func (a *arrival) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		if failed := a.control.SetReadDeadline(time.Time{}); failed != nil {
			err = failed
		}
	}
	return n, err
}
