package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/dialogue"
)

func (a *app) flowStageCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "stage STAGE",
		Short:   "Note how far the active flow is",
		Long:    "Note how far the active flow is, in your own words. An empty STAGE takes the note away.",
		Example: "  turnstone flow push book_flight --session tidewatch\n  turnstone flow stage confirming --session tidewatch",
		Args:    arguments("STAGE"),
	}
	return a.changing(cmd, func(_ context.Context, _ *turnstone.Session, args []string) (flowOp, error) {
		return activeAfter(func(state *dialogue.State) error { return state.SetStage(args[0]) }), nil
	})
}
