package trace_test

import (
	"testing"

	"github.com/turnstone-dev/turnstone/trace"
)

// BenchmarkRecorder is the trace of an exchange of which there is little to tell: what leads to its commit is taken
// inside of it, and the rest at its end.
func BenchmarkRecorder(b *testing.B) {
	now := clock()
	var body []byte
	take := func(r *trace.Recorder, status string) {
		part := r.Take("01KG0000000000000000000001", status)
		body = part.AppendJSON(body[:0])
	}
	b.ReportAllocs()
	for b.Loop() {
		r := trace.NewRecorder("session-1", "01KG0000000000000000000000", now)
		for _, phase := range []string{"complete", "reflect", "select"} {
			r.Begin(phase)
			r.Note(trace.Policy, "5 of 5 candidates kept")
			r.End(nil)
		}
		r.Begin("persist")
		take(r, "")
		r.Begin("notify")
		r.Begin("finalize")
		r.Note(trace.Failure, "history was put off")
		r.End(nil)
		take(r, "published")
	}
}
