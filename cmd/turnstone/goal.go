package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/cortex"
)

func (a *app) goalCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "goal",
		Short: "Show and change what a session works towards",
		Long: `Goals have a status, milestones, decisions, artifacts and next steps. A goal is named by its id or
its title. What you change here you change as the user; every change is kept, see goal history.

  active, paused, blocked   each may become any other, completed or abandoned
  completed, abandoned      the end

A locked decision can neither be unlocked nor changed nor removed. What is to be done for a goal, reminders among it, are
actions; see turnstone action --help, also for how reminders reach somebody.`,
		Example: `  turnstone goal add "Ship the booking agent" --session tidewatch --milestone "API"
  turnstone goal decide "Ship the booking agent" "Use PostgreSQL" --lock --session tidewatch
  turnstone goal done "Ship the booking agent" --session tidewatch`,
	}, a.goalListCommand(), a.goalShowCommand(), a.goalAddCommand(), a.goalSetCommand(),
		a.goalStatusCommand("done", cortex.GoalCompleted, "Complete a goal, for good"),
		a.goalStatusCommand("pause", cortex.GoalPaused, "Let a goal rest"),
		a.goalStatusCommand("resume", cortex.GoalActive, "Go on with a goal that is paused or blocked"),
		a.goalStatusCommand("block", cortex.GoalBlocked, "Say that a goal cannot go on"),
		a.goalStatusCommand("abandon", cortex.GoalAbandoned, "Give a goal up, for good"),
		a.goalDecideCommand(), a.goalLockCommand(), a.goalMilestoneCommand(), a.goalArtifactCommand(), a.goalNextCommand(),
		a.goalHistoryCommand())
}

// changingGoal makes a subcommand that changes the goal its first argument names. Prepare fills in the
// change.
func (a *app) changingGoal(cmd *cobra.Command, prepare func(cmd *cobra.Command, args []string, c *cortex.GoalChange) error) *cobra.Command {
	var o motive
	a.addMotiveFlags(cmd, &o)
	cmd.ValidArgsFunction = a.completeGoals
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := required(cmd, "session"); err != nil {
			return err
		}
		change := cortex.GoalChange{By: cortex.ActorUser, Why: o.why}
		if err := prepare(cmd, args[1:], &change); err != nil {
			return err
		}
		return a.withSession(cmd.Context(), o.session, func(s *turnstone.Session) error {
			g, err := a.namedGoal(cmd.Context(), s, args[0])
			if err != nil {
				return err
			}
			change.ID = g.ID
			if change.Parent, err = a.resolveGoal(cmd.Context(), s, change.Parent); err != nil {
				return err
			}
			return a.changeGoal(cmd.Context(), s, g, change)
		})
	}
	return cmd
}

// changeGoal makes the change and prints what the goal is then.
func (a *app) changeGoal(ctx context.Context, s *turnstone.Session, g cortex.Goal, change cortex.GoalChange) error {
	doc, err := a.intend(ctx, s, cortex.Changes{Goals: []cortex.GoalChange{change}})
	if err != nil {
		return err
	}
	before := g
	if doc == "" {
		a.note("that changes nothing")
	} else if g, err = cortex.DecodeGoal(doc); err != nil {
		return err
	}
	if had := len(before.Milestones); before.ID != "" && len(g.Milestones) > had {
		a.noteMilestones(g, had)
	}
	if a.json {
		return a.print(append(g.AppendJSON(nil), '\n'))
	}
	return a.printf("%s  %s", a.style().Strong(g.ID), goalWords(g))
}

// noteMilestones says which milestones a goal did not have before: a name that was mistyped is one of them.
func (a *app) noteMilestones(g cortex.Goal, had int) {
	for _, m := range g.Milestones[had:] {
		a.note("added the milestone %q, which is %s: the goal has %s now", terminal.CleanLine(short(m.Description, 200)), m.Status,
			progress.Count(int64(len(g.Milestones)), "milestone"))
	}
}

func goalWords(g cortex.Goal) string {
	return fmt.Sprintf("%s  %s  %s", g.Status, percent(g.Progress), terminal.CleanLine(short(g.Title, 200)))
}

func percent(share float64) string { return fmt.Sprintf("%.0f%%", 100*share) }

// completeGoals offers the ids of live goals, once the session is given.
func (a *app) completeGoals(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return a.completeIntentions(cmd, args, func(state *cortex.State) (ids []cobra.Completion) {
		for _, g := range state.Goals() {
			ids = append(ids, cobra.CompletionWithDesc(g.ID, g.Title))
		}
		return ids
	})
}

// completeIntentions offers what of a session's goals and actions the first argument may be.
func (a *app) completeIntentions(cmd *cobra.Command, args []string, offer func(*cortex.State) []cobra.Completion) ([]cobra.Completion, cobra.ShellCompDirective) {
	session := cmd.Flag("session").Value.String()
	if p, err := a.storePlace(); len(args) > 0 || session == "" || err != nil || p.path != "" && !isFile(p.path) {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var ids []cobra.Completion
	err := a.withSession(cmd.Context(), session, func(s *turnstone.Session) error {
		state, err := s.Intentions(cmd.Context(), false)
		if err == nil {
			ids = offer(state)
		}
		return err
	})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
