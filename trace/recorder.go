package trace

import "time"

// MaxText bounds an entry's text in bytes: a trace tells what happened, the log holds what was said.
const MaxText = 1 << 10

// Recorder writes the trace of a running turn. It is used by one goroutine.
type Recorder struct {
	now   func() time.Time
	trace TurnTrace
	// open is the index of the phase that runs, -1 where none does.
	open int
}

// NewRecorder begins the trace of an exchange at the clock's time.
func NewRecorder(session, turnID string, clock func() time.Time) *Recorder {
	return &Recorder{
		now: clock, open: -1,
		trace: TurnTrace{
			Session: session, TurnID: turnID, Started: clock(),
			Spans: make([]Span, 0, 6), Entries: make([]Entry, 0, 8),
		},
	}
}

// Begin opens a phase. One that was open ends.
func (r *Recorder) Begin(phase string) {
	r.End(nil)
	r.open = len(r.trace.Spans)
	r.trace.Spans = append(r.trace.Spans, Span{Phase: phase, Start: r.since()})
}

// End closes the open phase, with the error that ended it if there was one.
func (r *Recorder) End(err error) {
	if r.open < 0 {
		return
	}
	s := &r.trace.Spans[r.open]
	s.Length = r.since() - s.Start
	if err != nil {
		s.Error = cut(err.Error())
	}
	r.open = -1
}

// Note writes down that something happened in the open phase. A long text is cut.
func (r *Recorder) Note(kind Kind, text string) {
	e := Entry{At: r.since(), Kind: kind, Text: cut(text)}
	if r.open >= 0 {
		e.Phase = r.trace.Spans[r.open].Phase
	}
	r.trace.Entries = append(r.trace.Entries, e)
}

// Phase is the phase that is open, empty where none is.
func (r *Recorder) Phase() string {
	if r.open < 0 {
		return ""
	}
	return r.trace.Spans[r.open].Phase
}

// Began is when the trace began.
func (r *Recorder) Began() time.Time { return r.trace.Started }

// Take returns what was recorded since the last Take and goes on with an empty trace. An open phase is
// left to the next Take.
func (r *Recorder) Take(exportID, status string) TurnTrace {
	taken := r.trace
	taken.ExportID, taken.Status = exportID, status
	r.trace.Spans, r.trace.Entries = nil, nil
	if r.open >= 0 {
		r.trace.Spans = append(r.trace.Spans, taken.Spans[r.open])
		taken.Spans = taken.Spans[:r.open]
		r.open = 0
	}
	return taken
}

func (r *Recorder) since() time.Duration { return r.now().Sub(r.trace.Started) }

func cut(text string) string {
	if len(text) <= MaxText {
		return text
	}
	end := MaxText - len("…")
	for end > 0 && text[end]&0xc0 == 0x80 {
		end--
	}
	return text[:end] + "…"
}
