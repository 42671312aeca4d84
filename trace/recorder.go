package trace

import "time"

// MaxText bounds an entry's text in bytes: a trace tells what happened, the log holds what was said.
const MaxText = 1 << 10

// Recorder writes the trace of a running turn. It is used by one goroutine.
type Recorder struct {
	now   func() time.Time
	trace TurnTrace
	// open is the index of the phase that runs, which is the last one, -1 where none does.
	open int
	// spans and entries are the memory of the trace, as much of it as most exchanges need.
	spans   [6]Span
	entries [8]Entry
}

// NewRecorder begins the trace of an exchange at the clock's time.
func NewRecorder(session, turnID string, clock func() time.Time) *Recorder {
	r := &Recorder{now: clock, open: -1, trace: TurnTrace{Session: session, TurnID: turnID, Started: clock()}}
	r.trace.Spans, r.trace.Entries = r.spans[:0], r.entries[:0]
	return r
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
	spans, entries := len(taken.Spans), len(taken.Entries)
	if r.open >= 0 {
		spans, r.open = r.open, 0
	}
	// What is recorded from now on stands behind what was taken.
	taken.Spans, r.trace.Spans = taken.Spans[:spans:spans], taken.Spans[spans:]
	taken.Entries, r.trace.Entries = taken.Entries[:entries:entries], taken.Entries[entries:]
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
