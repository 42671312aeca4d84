package sse

import (
	"fmt"
	"net/http"
	"time"
)

// DefaultTimeout is how long a client may take for one event.
const DefaultTimeout = 10 * time.Second

// ContentType is what a stream of events is called, in answers and in what a client accepts.
const ContentType = "text/event-stream"

// Writer writes events to one client. Each is with the client, or on its way, when the method returns. It is for
// one goroutine, and nothing is kept for a client that rests.
type Writer struct {
	to      http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
}

// Begin begins the answer, with the status 200 and what keeps others from collecting or storing the stream, and sends
// it so far. A client that takes longer than timeout for one event, 0 for [DefaultTimeout], is given up: writing
// returns an error. An error also says that the connection cannot be written to in pieces or for a time only.
func Begin(w http.ResponseWriter, timeout time.Duration) (*Writer, error) {
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	header := w.Header()
	header.Set("Content-Type", ContentType)
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no")
	s := &Writer{to: w, control: http.NewResponseController(w), timeout: timeout}
	if err := s.deadline(); err != nil {
		return nil, err
	}
	w.WriteHeader(http.StatusOK)
	if err := s.flush(); err != nil {
		return nil, err
	}
	return s, nil
}

// Send writes an event. Errors are those of [Append], and of the connection: then the client is gone.
func (s *Writer) Send(e Event) error {
	frame, err := Append(nil, e)
	if err != nil {
		return err
	}
	return s.Frames(frame)
}

// Frames writes what [Append] made, for those who send the same to many.
func (s *Writer) Frames(frames ...[]byte) error {
	if err := s.deadline(); err != nil {
		return err
	}
	for _, frame := range frames {
		if _, err := s.to.Write(frame); err != nil {
			return fmt.Errorf("write of an event: %w", err)
		}
	}
	return s.flush()
}

// Comment writes words that a client passes over, so that the connection is seen to be alive.
func (s *Writer) Comment(text string) error {
	return s.Frames(appendComment(nil, text))
}

func (s *Writer) deadline() error {
	if err := s.control.SetWriteDeadline(time.Now().Add(s.timeout)); err != nil {
		return fmt.Errorf("time to write an event: %w", err)
	}
	return nil
}

func (s *Writer) flush() error {
	if err := s.control.Flush(); err != nil {
		return fmt.Errorf("write of an event: %w", err)
	}
	return nil
}
