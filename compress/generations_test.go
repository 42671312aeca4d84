package compress_test

import (
	"testing"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/turn"
)

// A checkpoint is one generation from the log however often it aged and was merged; what is made of a summary that
// stands in the log is two.
func TestGenerations(t *testing.T) {
	w := window(t, 8192)
	newID := ids()
	l, live := passes(t, w, 8, newID)
	for _, c := range live {
		if c.Generations() != 1 {
			t.Errorf("checkpoint %d, version %d: %d generations", c.Number, c.Version, c.Generations())
		}
	}
	p := l.next(9, w)
	l.turns[len(l.turns)-1].Kind = turn.KindSummary
	out := mustRun(t, l.job(p, nil, w), newID)
	for _, c := range out.Live {
		again, err := compress.DecodeCheckpoint(string(c.AppendJSON(nil)))
		if err != nil || c.Generations() != 2 || again.Generations() != 2 {
			t.Errorf("%d generations, stored %d, %v", c.Generations(), again.Generations(), err)
		}
	}
}
