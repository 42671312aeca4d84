package server

import (
	"net/http"
	"time"
)

// patient is a response that gives its client so long for each piece that is written, however long the whole takes: a
// stream may go on for ever, and a client that takes nothing is let go.
type patient struct {
	http.ResponseWriter
	control *http.ResponseController
	most    time.Duration
	set     time.Time // when the deadline was moved last
	begun   bool      // something was answered
	none    bool      // the connection has no deadlines, as one that is not of the network
}

func newPatient(w http.ResponseWriter, most time.Duration) *patient {
	return &patient{ResponseWriter: w, control: http.NewResponseController(w), most: most}
}

// Unwrap is for [http.ResponseController].
func (p *patient) Unwrap() http.ResponseWriter { return p.ResponseWriter }

func (p *patient) WriteHeader(status int) {
	p.begun = true
	p.extend()
	p.ResponseWriter.WriteHeader(status)
}

func (p *patient) Write(b []byte) (int, error) {
	p.begun = true
	p.extend()
	return p.ResponseWriter.Write(b)
}

// FlushError is for [http.ResponseController].
func (p *patient) FlushError() error {
	p.extend()
	return p.control.Flush()
}

// Flush is for those who look for an [http.Flusher].
func (p *patient) Flush() {
	p.extend()
	if f, ok := p.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

// extend moves the deadline, not more often than it matters.
func (p *patient) extend() {
	if now := time.Now(); now.Sub(p.set) > p.most/8 {
		p.move(now)
	}
}

// finish leaves what is still buffered its time.
func (p *patient) finish() { p.extend() }

func (p *patient) move(now time.Time) {
	if p.none {
		return
	}
	p.set = now
	p.none = p.control.SetWriteDeadline(now.Add(p.most)) != nil
}
