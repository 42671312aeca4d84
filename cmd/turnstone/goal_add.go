package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/turn"
)

// goalFlags are what a goal may be given besides its title.
type goalFlags struct {
	description, priority, parent string
}

func (f *goalFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.description, "description", "", "what it means, in your own words")
	flags.StringVar(&f.priority, "priority", "", "high, medium or low (default medium)")
	flags.StringVar(&f.parent, "parent", "", "the `goal` it is a part of, by its id or title")
	choices(cmd, "priority", string(cortex.PriorityHigh), string(cortex.PriorityMedium), string(cortex.PriorityLow))
}

func (f *goalFlags) fill(cmd *cobra.Command, c *cortex.GoalChange) {
	c.Description = given(cmd, "description", &f.description)
	c.Priority = (*cortex.Priority)(given(cmd, "priority", &f.priority))
	c.Parent = given(cmd, "parent", &f.parent)
}

func (a *app) goalAddCommand() *cobra.Command {
	var o motive
	var f goalFlags
	var id string
	var milestones, next []string
	cmd := &cobra.Command{
		Use:   "add TITLE",
		Short: "Add a goal",
		Example: `  turnstone goal add "Ship the booking agent" --session tidewatch --priority high
  turnstone goal add "Learn Go" --session tidewatch --milestone "Tour" --milestone "First program" --next "Install it"`,
		Args:              arguments("TITLE"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := required(cmd, "session"); err != nil {
				return err
			}
			if err := nothingEmpty(cmd, "id"); err != nil {
				return err
			}
			change := cortex.GoalChange{ID: id, By: cortex.ActorUser, Why: o.why, Title: &args[0], NextSteps: given(cmd, "next", &next)}
			f.fill(cmd, &change)
			for _, m := range milestones {
				change.AddMilestones = append(change.AddMilestones, cortex.Milestone{Description: m})
			}
			return a.withSession(cmd.Context(), o.session, func(s *turnstone.Session) error {
				return a.addGoal(cmd.Context(), s, change)
			})
		},
	}
	a.addMotiveFlags(cmd, &o)
	f.add(cmd)
	cmd.Flags().StringVar(&id, "id", "", "its `id` (default one is made)")
	cmd.Flags().StringArrayVar(&milestones, "milestone", nil, "a step towards it; may be repeated")
	cmd.Flags().StringArrayVar(&next, "next", nil, "what is to be done next; may be repeated")
	return cmd
}

// addGoal refuses a goal that is there already: the engine would take it for a change of that one.
func (a *app) addGoal(ctx context.Context, s *turnstone.Session, change cortex.GoalChange) error {
	state, err := s.Intentions(ctx, true)
	if err != nil {
		return err
	}
	for _, g := range state.Goals() {
		if g.ID == change.ID || g.Live() && strings.EqualFold(g.Title, *change.Title) {
			return &advised{
				err:  fmt.Errorf("goal %s, %q: %w", g.ID, g.Title, turn.ErrExists),
				next: "change it with: " + a.line("goal set "+g.ID+" --session "+quoted(s.ID())),
			}
		}
	}
	if change.Parent, err = a.resolveGoal(ctx, s, change.Parent); err != nil {
		return err
	}
	return a.changeGoal(ctx, s, cortex.Goal{}, change)
}

func (a *app) goalSetCommand() *cobra.Command {
	var f goalFlags
	var title, status string
	var progress float64
	cmd := &cobra.Command{
		Use:   "set GOAL",
		Short: "Change a goal's title, description, priority, progress, parent or status",
		Long: `Change a goal's title, description, priority, progress, parent or status. Progress follows the
milestones until it is set.`,
		Example: `  turnstone goal set "After 1.0" --session tidewatch --priority low --progress 0.25`,
		Args:    arguments("GOAL"),
	}
	flags := cmd.Flags()
	flags.StringVar(&title, "title", "", "another title")
	f.add(cmd)
	keeps(cmd, "priority")
	flags.StringVar(&status, "status", "", "active, paused, blocked, completed or abandoned")
	flags.Float64Var(&progress, "progress", 0, "how much is done, from 0 to 1")
	choices(cmd, "status", string(cortex.GoalActive), string(cortex.GoalPaused), string(cortex.GoalBlocked),
		string(cortex.GoalCompleted), string(cortex.GoalAbandoned))
	return a.changingGoal(cmd, func(cmd *cobra.Command, _ []string, c *cortex.GoalChange) error {
		f.fill(cmd, c)
		c.Title = given(cmd, "title", &title)
		c.Status = (*cortex.GoalStatus)(given(cmd, "status", &status))
		c.Progress = given(cmd, "progress", &progress)
		if c.Title == nil && c.Status == nil && c.Progress == nil && c.Description == nil && c.Priority == nil && c.Parent == nil {
			return usage("give --title, --description, --priority, --progress, --parent or --status", "goal set: there is nothing to set")
		}
		return nil
	})
}

func (a *app) goalStatusCommand(name string, status cortex.GoalStatus, about string) *cobra.Command {
	return a.changingGoal(&cobra.Command{
		Use:     name + " GOAL",
		Short:   about,
		Example: "  turnstone goal " + name + " \"After 1.0\" --session tidewatch --why \"as agreed\"",
		Args:    arguments("GOAL"),
	}, func(_ *cobra.Command, _ []string, c *cortex.GoalChange) error {
		c.Status = &status
		return nil
	})
}
