package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/dialogue"
)

func (a *app) flowInvalidateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "invalidate FLOW_ID",
		Short:   "Make a flow invalid, and with it the steps of it",
		Example: "  turnstone flow invalidate 01JH... --session tidewatch",
		Args:    arguments("FLOW_ID"),
	}
	return a.changing(cmd, func(_ context.Context, _ *turnstone.Session, args []string) (flowOp, error) {
		return func(state *dialogue.State) (flowChange, error) {
			flows, err := state.Invalidate(args[0])
			return flowChange{name: "invalidated", flows: flows}, err
		}, nil
	})
}
