package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/turn"
)

// activePath are the turns that a session's prompts may show. None of them stands for all.
type activePath []turn.Range

// wholeLog is the path on which all turns are.
var wholeLog = activePath{{From: 1}}

// whole reports whether no turn is off the path.
func (p activePath) whole() bool {
	return len(p) == 0 || len(p) == 1 && p[0].From <= 1 && p[0].To == 0
}

// off reports whether a restore left the turn behind.
func (p activePath) off(seq int64) bool {
	return !p.whole() && !slices.ContainsFunc(p, func(r turn.Range) bool { return seq >= r.From && (r.To == 0 || seq <= r.To) })
}

// leftOut is how many turns between two are off the path.
func (p activePath) leftOut(from, to int64) int64 {
	return max(to-from+1, 0) - (snapshot.Count(p, to) - snapshot.Count(p, from-1))
}

func addAllFlag(cmd *cobra.Command, all *bool) {
	cmd.Flags().BoolVar(all, "all", false, "also the turns after a snapshot that the session went back to, which its prompts do not show any more")
}

// noteLeftOut says that turns were not shown because a restore left them behind.
func (a *app) noteLeftOut(n int64) {
	if n > 0 {
		a.note("%s left out, since the session went back to a snapshot or was forgotten; --all shows them", progress.Count(n, "turn"))
	}
}
