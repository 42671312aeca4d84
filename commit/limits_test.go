package commit_test

import (
	"fmt"
	"strings"
	"testing"

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
