package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/cortex"
)

var actionTypes = []cortex.ActionType{
	cortex.AgentTask, cortex.Research, cortex.UserTask, cortex.ApprovalRequest, cortex.Reminder,
	cortex.FollowUp, cortex.PendingDecision, cortex.BackgroundJob, cortex.Blocker,
}

func (a *app) actionCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "action",
		Short: "Show and change what is pending: tasks, approvals, reminders, jobs",
		Long: `Pending actions are what the agent or the user still has to do. What may become of one depends on
its type:

` + machinesHelp() + `
All but a blocker may also be cancelled. What you change here you change as the user; every change is
kept, see action history.

Nothing happens by itself when an action is due, and nobody is sent anything: a program of yours delivers reminders. It
learns of actions from the exports of exchanges, as turnstone daemon tail prints them, or asks with action list. When one
is due it tells the user, and says so with action set ACTION --status sent. One that is not done 24 hours after that is
escalated, by a server or any program that keeps an engine open, or by turnstone sweep, and the event reminder-escalated
announces it; see turnstone events.`,
		Example: `  turnstone action add "Check the invoice" --type user_task --session tidewatch
  turnstone action done 01JH5T8Q3VXK6Z0M4N7P9R2S1W --session tidewatch
  turnstone action list --session tidewatch`,
	}, a.actionListCommand(), a.actionShowCommand(), a.actionAddCommand(), a.actionSetCommand(), a.actionDoneCommand(),
		a.actionEndCommand("approve", cortex.ActionApproved, "Approve what was asked for"),
		a.actionEndCommand("reject", cortex.ActionRejected, "Reject what was asked for"),
		a.actionEndCommand("cancel", cortex.ActionCancelled, "Call an action off"),
		a.actionHistoryCommand())
}

// machinesHelp writes the way of each type of action, without cancelling.
func machinesHelp() string {
	var b strings.Builder
	for _, t := range actionTypes {
		var way []string
		var ends []cortex.ActionStatus
		for _, s := range t.Statuses() {
			if next := t.Next(s); len(next) > 0 {
				way = append(way, string(s))
				ends = slices.DeleteFunc(next, func(s cortex.ActionStatus) bool { return s == cortex.ActionCancelled })
			}
		}
		fmt.Fprintf(&b, "  %-17s %s -> %s\n", t, strings.Join(way, " -> "), alternatives(ends))
	}
	return b.String()
}

// changingAction makes a subcommand that changes the action its first argument names. Prepare makes
// the changes; who makes them, and why, is filled in.
func (a *app) changingAction(cmd *cobra.Command, prepare func(*cobra.Command, cortex.PendingAction) ([]cortex.ActionChange, error)) *cobra.Command {
	var o motive
	a.addMotiveFlags(cmd, &o)
	cmd.ValidArgsFunction = a.completeActions
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := required(cmd, "session"); err != nil {
			return err
		}
		return a.withSession(cmd.Context(), o.session, func(s *turnstone.Session) error {
			action, err := a.namedAction(cmd.Context(), s, args[0])
			if err != nil {
				return err
			}
			changes, err := prepare(cmd, action)
			if err != nil {
				return err
			}
			for i := range changes {
				c := &changes[i]
				c.ID, c.Version, c.By, c.Why = action.ID, action.Version, cortex.ActorUser, o.why
				if c.GoalID, err = a.resolveGoal(cmd.Context(), s, c.GoalID); err != nil {
					return err
				}
			}
			return a.changeAction(cmd.Context(), s, action, changes)
		})
	}
	return cmd
}

// changeAction makes the changes and prints what the action is then.
func (a *app) changeAction(ctx context.Context, s *turnstone.Session, action cortex.PendingAction, changes []cortex.ActionChange) error {
	doc, err := a.intend(ctx, s, cortex.Changes{Actions: changes})
	if err != nil {
		return err
	}
	if doc == "" {
		a.note("that changes nothing")
	} else if action, err = cortex.DecodeAction(doc); err != nil {
		return err
	}
	if a.json {
		return a.print(append(action.AppendJSON(nil), '\n'))
	}
	return a.printf("%s  %s  %s  %s", a.style().Strong(action.ID), action.Status, action.Type, terminal.CleanLine(short(action.Title, 200)))
}

// wayTo returns the statuses that lead an action to one, itself last. Where no way leads there, it is
// that status alone, for the engine to say what is legal.
func wayTo(action cortex.PendingAction, to cortex.ActionStatus) []cortex.ActionStatus {
	ways := [][]cortex.ActionStatus{{action.Status}}
	for len(ways) > 0 {
		way := ways[0]
		ways = ways[1:]
		for _, next := range action.Type.Next(way[len(way)-1]) {
			if longer := append(slices.Clone(way), next); next == to {
				return longer[1:]
			} else if !slices.Contains(way, next) {
				ways = append(ways, longer)
			}
		}
	}
	return []cortex.ActionStatus{to}
}

// steps makes one change of each status.
func steps(statuses []cortex.ActionStatus) []cortex.ActionChange {
	changes := make([]cortex.ActionChange, len(statuses))
	for i := range statuses {
		changes[i].Status = &statuses[i]
	}
	return changes
}

// completeActions offers the ids of pending actions, once the session is given.
func (a *app) completeActions(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return a.completeIntentions(cmd, args, func(state *cortex.State) (ids []cobra.Completion) {
		for _, action := range state.Actions() {
			ids = append(ids, cobra.CompletionWithDesc(action.ID, action.Title))
		}
		return ids
	})
}

func typeNames() []string {
	names := make([]string, len(actionTypes))
	for i, t := range actionTypes {
		names[i] = string(t)
	}
	return names
}
