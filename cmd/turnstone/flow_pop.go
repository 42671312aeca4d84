package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/dialogue"
)

func (a *app) flowPopCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "pop",
		Short:   "Take finished flows off the top",
		Long:    "Take finished flows off the top and make the next one that waits active. Both are shown.",
		Example: "  turnstone flow push book_flight --session tidewatch\n  turnstone flow pop --session tidewatch",
		Args:    arguments(),
	}
	return a.changing(cmd, func(context.Context, *turnstone.Session, []string) (flowOp, error) {
		return func(state *dialogue.State) (flowChange, error) {
			return poppedChange(state.Pop()), nil
		}, nil
	})
}

func poppedChange(p dialogue.Popped) flowChange {
	c := flowChange{name: "finished", flows: p.Finished, popped: true, promoted: p.Promoted}
	if len(p.Finished) == 0 && p.Promoted == nil {
		c.note = "nothing to pop"
	}
	return c
}
