package main

import (
	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/turn"
)

// leftOut is how many turns between two are off the path.
func leftOut(p turn.Path, from, to int64) int64 {
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
