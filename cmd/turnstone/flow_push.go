package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/dialogue"
)

func (a *app) flowPushCommand() *cobra.Command {
	var id string
	var o dialogue.Options
	var filled, declared []string
	cmd := &cobra.Command{
		Use:   "push NAME",
		Short: "Stack a new flow on",
		Long: `Stack a new active flow on; the one beneath waits. Filled slots carry over from it: those
the new flow names with --slot or --declare, or all if it names none. If a flow of that name is
live already, it is shown and nothing changes.`,
		Example: `  turnstone flow push book_flight --session tidewatch
  turnstone flow push find_hotel --session tidewatch --plan 01JH... --declare city:string --slot 'nights=2'`,
		Args: arguments("NAME"),
	}
	flags := cmd.Flags()
	flags.StringVar(&id, "id", "", "the flow's `flow_id` (default one is made)")
	flags.StringVar(&o.PlanID, "plan", "", "the `flow_id` of the flow this one is a step of")
	flags.StringVar(&o.Stage, "stage", "", "its first stage, in your own words")
	flags.StringArrayVar(&filled, "slot", nil, "a filled slot, as `NAME=JSON`; may be repeated")
	flags.StringArrayVar(&declared, "declare", nil, "an unfilled slot, as `NAME:TYPE`; may be repeated")
	return a.changing(cmd, func(ctx context.Context, s *turnstone.Session, args []string) (flowOp, error) {
		by, err := turnNamed(ctx, s, "")
		if err != nil {
			return nil, err
		}
		options := o
		if options.Slots, err = parseSlots(filled, declared, by); err != nil {
			return nil, err
		}
		flowID := id
		if flowID == "" {
			flowID = a.newID()
		}
		return func(state *dialogue.State) (flowChange, error) {
			flow, created, err := state.StackOn(flowID, args[0], options)
			c := flowChange{name: "flow", flows: []dialogue.Flow{flow}}
			if !created {
				c.note = "flow " + args[0] + " is live already"
			}
			return c, err
		}, nil
	})
}

func parseSlots(filled, declared []string, by string) ([]dialogue.Slot, error) {
	var slots []dialogue.Slot
	for _, text := range declared {
		name, typ, ok := strings.Cut(text, ":")
		if !ok {
			return nil, usage("write NAME:TYPE, such as city:string", "declare: %q has no type", text)
		}
		slots = append(slots, dialogue.Slot{Name: name, Type: dialogue.Type(typ)})
	}
	for _, text := range filled {
		name, value, ok := strings.Cut(text, "=")
		if !ok || value == "" {
			return nil, usage(`write NAME=JSON, such as 'city="Paris"'`, "slot: %q has no value", text)
		}
		slots = append(slots, dialogue.Slot{Name: name, Value: dialogue.Value(value), FilledBy: by})
	}
	return slots, nil
}
