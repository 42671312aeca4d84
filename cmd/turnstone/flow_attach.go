package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/dialogue"
)

func (a *app) flowAttachCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "attach [TURN]",
		Short:   "Point the active flow at a turn",
		Long:    "Point the active flow at a turn, given by its number or id, or at the newest.",
		Example: "  turnstone flow push book_flight --session tidewatch\n  turnstone flow attach --session tidewatch\n  turnstone flow attach 12 --session tidewatch",
		Args:    arguments("[TURN]"),
	}
	return a.changing(cmd, func(ctx context.Context, s *turnstone.Session, args []string) (flowOp, error) {
		given := ""
		if len(args) > 0 {
			given = args[0]
		}
		id, err := turnNeeded(ctx, s, given)
		if err != nil {
			return nil, err
		}
		return activeAfter(func(state *dialogue.State) error { return state.Attach(id) }), nil
	})
}

func addTurnFlag(cmd *cobra.Command, in *string, help string) {
	cmd.Flags().StringVar(in, "turn", "", help)
}

// turnNeeded is turnNamed for what cannot do without a turn.
func turnNeeded(ctx context.Context, s *turnstone.Session, given string) (string, error) {
	id, err := turnNamed(ctx, s, given)
	if err == nil && id == "" {
		return "", usage("append one first", "session %s has no turns", s.ID())
	}
	return id, err
}
