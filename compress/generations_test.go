package compress_test

import (
	"context"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/compress"
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

// A summary that was made of summaries of parts is two generations from the log, and its receipt says so; so does it
// through a summariser that hands on what it is asked.
func TestASummaryOfSummariesIsASecondGeneration(t *testing.T) {
	for window, want := range map[int]int64{2048: 2, 32768: 1} {
		m := &scripted{window: window, answer: always("Looked at and fine: 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129.")}
		var handed summarising = func(ctx context.Context, r compress.Request) (string, error) {
			return compress.Model{LLM: m, Window: window}.Summarise(ctx, r)
		}
		for name, s := range map[string]compress.Summariser{"model": compress.Model{LLM: m, Window: window}, "handed on": handed} {
			_, receipt, err := compress.Run(t.Context(), s, request(long(30, 10), 200), compress.Options{By: "m"})
			if err != nil || receipt.By != "m" || receipt.Lossy() != want {
				t.Errorf("%s in %d: %+v, %v", name, window, receipt, err)
			}
		}
	}
	if _, receipt, err := compress.Run(t.Context(), nil, request(long(30, 10), 200), compress.Options{}); err != nil || receipt.Lossy() != 1 || receipt.Generations != 0 {
		t.Errorf("without a model: %+v, %v", receipt, err)
	}
}

type summarising func(context.Context, compress.Request) (string, error)

func (s summarising) Summarise(ctx context.Context, r compress.Request) (string, error) {
	return s(ctx, r)
}
