package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/dialogue"
)

func (a *app) flowCompleteCommand() *cobra.Command {
	var result string
	cmd := &cobra.Command{
		Use:   "complete",
		Short: "Complete the active flow",
		Long:  "Complete the active flow. It stays on top until flow pop or flow keep-going takes it off.",
		Example: `  turnstone flow push book_flight --session tidewatch
  turnstone flow complete --session tidewatch --result '{"booked":true}'`,
		Args: arguments(),
	}
	cmd.Flags().StringVar(&result, "result", "", "what came of it, as `JSON`")
	return a.changing(cmd, func(context.Context, *turnstone.Session, []string) (flowOp, error) {
		return func(state *dialogue.State) (flowChange, error) {
			flow, err := state.Complete(dialogue.Value(result))
			return flowChange{name: "flow", flows: []dialogue.Flow{flow}}, err
		}, nil
	})
}
