package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/dialogue"
)

func (a *app) flowFallbackCommand() *cobra.Command {
	var id string
	cmd := &cobra.Command{
		Use:     "fallback NAME",
		Short:   "Give up the active flow for another one",
		Long:    "Give up the active flow for another one, which takes its place, its slots and its plan.",
		Example: "  turnstone flow push book_flight --session tidewatch\n  turnstone flow fallback ask_a_person --session tidewatch",
		Args:    arguments("NAME"),
	}
	cmd.Flags().StringVar(&id, "id", "", "the new flow's `flow_id` (default one is made)")
	return a.changing(cmd, func(_ context.Context, _ *turnstone.Session, args []string) (flowOp, error) {
		flowID := id
		if flowID == "" {
			flowID = a.newID()
		}
		return func(state *dialogue.State) (flowChange, error) {
			flow, err := state.Fallback(flowID, args[0])
			return flowChange{name: "flow", flows: []dialogue.Flow{flow}}, err
		}, nil
	})
}
