package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

func (a *app) flowSlotCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:     "slot",
		Short:   "Declare, fill and clear slots of the active flow",
		Example: "  turnstone flow push book_flight --session tidewatch\n  turnstone flow slot set city Paris --string --session tidewatch",
	}, a.flowSlotSetCommand(), a.flowSlotClearCommand(), a.flowSlotDeclareCommand())
}

func (a *app) flowSlotSetCommand() *cobra.Command {
	var by string
	var asString bool
	cmd := &cobra.Command{
		Use:   "set NAME VALUE",
		Short: "Fill a slot of the active flow with a JSON value",
		Long: `Fill a slot of the active flow with a JSON value, which is kept byte for byte. The slot
remembers the turn that filled it. With --string the value is text as it stands.`,
		Example: `  turnstone flow push book_flight --session tidewatch
  turnstone flow slot set city Paris --string --session tidewatch
  turnstone flow slot set guests '{"adults":2}' --session tidewatch --turn 12`,
		Args: arguments("NAME", "VALUE"),
	}
	addTurnFlag(cmd, &by, "the `turn` that filled it, by number or id (default the newest)")
	cmd.Flags().BoolVar(&asString, "string", false, "VALUE is text, not JSON")
	return a.changing(cmd, func(ctx context.Context, s *turnstone.Session, args []string) (flowOp, error) {
		id, err := turnNamed(ctx, s, by)
		if err != nil {
			return nil, err
		}
		value := dialogue.Value(args[1])
		if asString {
			value = dialogue.Value(strictjson.AppendString(nil, args[1]))
		} else if err := strictjson.Check(strings.TrimSpace(args[1])); err != nil {
			return nil, usage("give one JSON value, or text as it stands with --string", "value: is not JSON: %v", err)
		}
		return activeAfter(func(state *dialogue.State) error { return state.SetSlot(args[0], value, id) }), nil
	})
}

func (a *app) flowSlotClearCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "clear NAME",
		Short:   "Empty a slot of the active flow; it stays declared",
		Example: "  turnstone flow push book_flight --session tidewatch\n  turnstone flow slot set city Paris --string --session tidewatch\n  turnstone flow slot clear city --session tidewatch",
		Args:    arguments("NAME"),
	}
	return a.changing(cmd, func(_ context.Context, _ *turnstone.Session, args []string) (flowOp, error) {
		return activeAfter(func(state *dialogue.State) error { return state.ClearSlot(args[0]) }), nil
	})
}

func (a *app) flowSlotDeclareCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "declare NAME TYPE",
		Short:   "Give the active flow an unfilled slot",
		Long:    "Give the active flow an unfilled slot of type string, number, boolean, list or object.",
		Example: "  turnstone flow push book_flight --session tidewatch\n  turnstone flow slot declare city string --session tidewatch",
		Args:    arguments("NAME", "TYPE"),
	}
	return a.changing(cmd, func(_ context.Context, _ *turnstone.Session, args []string) (flowOp, error) {
		return activeAfter(func(state *dialogue.State) error { return state.DeclareSlot(args[0], dialogue.Type(args[1])) }), nil
	})
}
