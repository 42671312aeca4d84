package compress_test

import (
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/turn"
)

// A checkpoint is one generation from the log however old it is: nothing is made of the summaries that stand there.
func TestNothingIsMadeOfASummary(t *testing.T) {
	w := window(t, 8192)
	newID := ids()
	l, _ := passes(t, w, 8, newID)
	p := l.next(9, w)
	last := &l.turns[len(l.turns)-1]
	last.Kind, last.Content = turn.KindSummary, turn.Text{Text: "We decided to paint /srv/fence.txt with color 4711."}
	out := mustRun(t, l.job(p, nil, w), newID)
	for _, c := range out.Live {
		if doc := string(c.AppendJSON(nil)); strings.Contains(doc, "4711") || strings.Contains(doc, "fence") {
			t.Errorf("checkpoint %d was made of a summary: %s", c.Number, doc)
		}
	}
}
