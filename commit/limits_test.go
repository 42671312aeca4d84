package commit_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/turn"
)

// What may be said bounds what others say: the summary that the commit makes of it may be longer.
func TestASummaryMayBeLongerThanWhatMayBeSaid(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{Limits: turn.Limits{Text: 600}})
	var input, reply strings.Builder
	for i := range 3 {
		fmt.Fprintf(&input, "We decided to use option %d for the long-lived integration environment, for reasons that were given at length before.\n", i)
		fmt.Fprintf(&reply, "We decided that component %d of the deployment pipeline is going to be written anew in the coming quarter by team %d.\n", i, i)
	}
	res := w.commit(talk(input.String(), reply.String()))
	if n := len(w.turns()[2]); res.Status != commit.Complete || n <= 600 {
		t.Errorf("%s, with a summary of %d bytes", res.Status, n)
	}
}

// What was put off was accepted once: it is written whatever the limits are by then, and a Responder's reply has none.
func TestWhatWasPutOffIsWrittenWhateverTheLimits(t *testing.T) {
	long := strings.Repeat("word ", 1000)
	w := newWorldOnMem(t, commit.Config{
		Retries: []time.Duration{time.Hour}, Limits: turn.Limits{Text: 3000, Calls: 2}, Deadlines: patient,
		Responder: commit.RespondFunc(func(context.Context, *commit.Situation) (string, error) { return long, nil }),
	})
	calls := []turn.ToolCall{{ID: "a", Name: "ls", Arguments: "{}"}, {ID: "b", Name: "ls", Arguments: "{}"}}
	_, whole := w.putOff(commit.Exchange{Turns: []turn.Draft{
		{Role: turn.User, Content: turn.Text{Text: "hello"}},
		{Role: turn.Agent, Content: turn.Text{ToolCalls: calls}},
		{Role: turn.System, Content: turn.Result{Name: "ls", CallID: "a", Status: turn.CallOK, Result: `"x"`}},
		{Role: turn.System, Content: turn.Result{Name: "ls", CallID: "b", Status: turn.CallOK, Result: `"y"`}},
	}}, "InsertTurns")
	w.config.Limits = turn.Limits{Text: 1, Calls: 1}
	w.withStore(whole)
	w.due()
	w.pipeline.RetryDue(t.Context())
	if got := w.turns(); !slices.Contains(got, long) || got[0] != "hello" || len(w.deferrals()) > 0 {
		t.Errorf("%d turns are written, and put off is %+v", len(got), w.deferrals())
	}
}
