package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/dialogue"
)

func (a *app) flowKeepGoingCommand() *cobra.Command {
	var in string
	cmd := &cobra.Command{
		Use:   "keep-going",
		Short: "Pop, and go on with the next flow in the same turn",
		Long: `Take finished flows off the top and go on with the next one that waits, inside the same turn:
the flow that comes up points at it.`,
		Example: "  turnstone flow push book_flight --session tidewatch\n  turnstone flow keep-going --session tidewatch",
		Args:    arguments(),
	}
	addTurnFlag(cmd, &in, "the `turn` that goes on, by number or id (default the newest)")
	return a.changing(cmd, func(ctx context.Context, s *turnstone.Session, _ []string) (flowOp, error) {
		id, err := turnNeeded(ctx, s, in)
		if err != nil {
			return nil, err
		}
		return func(state *dialogue.State) (flowChange, error) {
			p, err := state.KeepGoing(id)
			return poppedChange(p), err
		}, nil
	})
}
