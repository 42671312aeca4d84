package main

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cortex"
)

func (a *app) actionListCommand() *cobra.Command {
	var session string
	var all bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the pending actions of a session",
		Example: "  turnstone action list --session tidewatch\n  turnstone action list --session tidewatch --all --json",
		Args:    arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := required(cmd, "session"); err != nil {
				return err
			}
			return a.withSession(cmd.Context(), session, func(s *turnstone.Session) error {
				return a.listActions(cmd.Context(), s, all)
			})
		},
	}
	a.addSessionFlag(cmd, &session)
	cmd.Flags().BoolVar(&all, "all", false, "also those that are finished")
	return cmd
}

func (a *app) listActions(ctx context.Context, s *turnstone.Session, all bool) error {
	state, err := s.Intentions(ctx, all)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, action := range state.Actions() {
		if a.json {
			if err := a.print(append(action.AppendJSON(nil), '\n')); err != nil {
				return err
			}
		}
		rows = append(rows, []string{
			action.ID, string(action.Status), string(action.Type), string(action.Owner), a.dueWords(action), action.Title,
		})
	}
	if len(rows) == 0 {
		a.note("no actions are pending; add one with: %s", a.line("action add TITLE --session "+quoted(s.ID())))
	}
	if a.json {
		return nil
	}
	return a.table([]string{"ACTION", "STATUS", "TYPE", "OWNER", "DUE", "TITLE"}, rows)
}

func (a *app) dueWords(action cortex.PendingAction) string {
	if action.DueAt.IsZero() {
		return ""
	}
	return a.format().Time(action.DueAt)
}

func (a *app) actionShowCommand() *cobra.Command {
	var session string
	cmd := &cobra.Command{
		Use:               "show ACTION",
		Short:             "Show an action and what may become of it",
		Example:           "  turnstone action show 01JH5T8Q3VXK6Z0M4N7P9R2S1W --session tidewatch",
		Args:              arguments("ACTION"),
		ValidArgsFunction: a.completeActions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := required(cmd, "session"); err != nil {
				return err
			}
			return a.withSession(cmd.Context(), session, func(s *turnstone.Session) error {
				action, err := a.namedAction(cmd.Context(), s, args[0])
				switch {
				case err != nil:
					return err
				case a.json:
					return a.print(append(action.AppendJSON(nil), '\n'))
				}
				return a.showAction(action)
			})
		},
	}
	a.addSessionFlag(cmd, &session)
	return cmd
}

func (a *app) showAction(action cortex.PendingAction) error {
	yes := func(is bool) string {
		if is {
			return "yes"
		}
		return ""
	}
	format := a.format()
	pairs := [][2]string{
		{"action", action.ID}, {"title", action.Title}, {"type", string(action.Type)}, {"owner", string(action.Owner)},
		{"status", standing(action.Status, action.Type.Next(action.Status))}, {"due", a.dueWords(action)}, {"goal", action.GoalID},
		{"blocking", yes(action.Blocking)}, {"confirm", yes(action.RequiresConfirmation)},
	}
	pairs = append(pairs, listed("evidence", action.Evidence)...)
	return a.fields(append(pairs, [2]string{"created", format.Time(action.CreatedAt)}, [2]string{"changed", format.Time(action.UpdatedAt)},
		[2]string{"version", strconv.FormatInt(action.Version, 10)})...)
}

func (a *app) actionHistoryCommand() *cobra.Command {
	var session string
	cmd := &cobra.Command{
		Use:               "history ACTION",
		Short:             "Show every change of an action, oldest first",
		Example:           "  turnstone action history 01JH5T8Q3VXK6Z0M4N7P9R2S1W --session tidewatch",
		Args:              arguments("ACTION"),
		ValidArgsFunction: a.completeActions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := required(cmd, "session"); err != nil {
				return err
			}
			return a.withSession(cmd.Context(), session, func(s *turnstone.Session) error {
				action, err := a.namedAction(cmd.Context(), s, args[0])
				if err != nil {
					return err
				}
				return a.printHistory(cmd.Context(), s, cortex.KindAction, action.ID)
			})
		},
	}
	a.addSessionFlag(cmd, &session)
	return cmd
}
