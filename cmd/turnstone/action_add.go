package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/turn"
)

// actionFlags are what an action may be given besides its title.
type actionFlags struct {
	owner, due, goal  string
	blocking, confirm bool
	evidence          []string
}

func (f *actionFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.owner, "owner", "", "whose it is: agent or user (default by its type)")
	flags.StringVar(&f.due, "due", "", "when it is due, a `time`: 2h (from now), 2006-01-02, 2006-01-02T15:04:05, or none; nobody is reminded by that, see turnstone action --help")
	flags.StringVar(&f.goal, "goal", "", "the `goal` it serves, by its id or title")
	flags.BoolVar(&f.blocking, "blocking", false, "the goal cannot go on before it is done")
	flags.BoolVar(&f.confirm, "confirm", false, "only the user can complete it")
	flags.StringArrayVar(&f.evidence, "evidence", nil, "how one knows how it stands; may be repeated")
	choices(cmd, "owner", string(cortex.OwnerAgent), string(cortex.OwnerUser))
}

func (f *actionFlags) fill(cmd *cobra.Command, c *cortex.ActionChange) error {
	c.Owner = (*cortex.Owner)(given(cmd, "owner", &f.owner))
	c.GoalID = given(cmd, "goal", &f.goal)
	c.Blocking = given(cmd, "blocking", &f.blocking)
	c.RequiresConfirmation = given(cmd, "confirm", &f.confirm)
	c.AddEvidence = f.evidence
	if !cmd.Flags().Changed("due") {
		return nil
	}
	if f.due == "" {
		return usage("give a time such as 2h, or none", "--due: is empty")
	}
	var due time.Time
	if f.due != "none" {
		var err error
		if due, err = parseAhead("due", f.due); err != nil {
			return err
		}
	}
	c.DueAt = &due
	return nil
}

func (a *app) actionAddCommand() *cobra.Command {
	var o motive
	var f actionFlags
	var id, typ string
	cmd := &cobra.Command{
		Use:   "add TITLE",
		Short: "Add an action",
		Example: `  turnstone action add "Check the invoice" --type user_task --due 2h --session tidewatch
  turnstone action add "May I book it?" --type approval_request --goal "After 1.0" --blocking --session tidewatch`,
		Args:              arguments("TITLE"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := required(cmd, "session"); err != nil {
				return err
			}
			if err := nothingEmpty(cmd, "id"); err != nil {
				return err
			}
			kind := cortex.ActionType(typ)
			change := cortex.ActionChange{ID: id, By: cortex.ActorUser, Why: o.why, Title: &args[0], Type: &kind}
			if change.ID == "" {
				change.ID = a.newID()
			}
			if err := f.fill(cmd, &change); err != nil {
				return err
			}
			err := a.withSession(cmd.Context(), o.session, func(s *turnstone.Session) error {
				return a.addAction(cmd.Context(), s, change)
			})
			if err == nil && !slices.Contains(actionTypes, kind) {
				a.note("%q is no type of action: it is a %s, which only the user can complete; there are %s", typ, cortex.UserTask, alternatives(actionTypes))
			}
			return err
		},
	}
	a.addMotiveFlags(cmd, &o)
	cmd.Flags().StringVar(&typ, "type", string(cortex.UserTask), "what it is: "+alternatives(actionTypes)+"; any other is a user_task that only the user can complete")
	choices(cmd, "type", typeNames()...)
	f.add(cmd)
	cmd.Flags().StringVar(&id, "id", "", "its `id` (default one is made)")
	return cmd
}

// addAction refuses one that is there already: the engine would take it for a change of that one.
func (a *app) addAction(ctx context.Context, s *turnstone.Session, change cortex.ActionChange) error {
	state, err := s.Intentions(ctx, true)
	if err != nil {
		return err
	}
	if _, exists := state.Action(change.ID); exists {
		return &advised{
			err:  fmt.Errorf("action %s: %w", change.ID, turn.ErrExists),
			next: "change it with: " + a.line("action set "+change.ID+" --session "+quoted(s.ID())),
		}
	}
	if change.GoalID, err = a.resolveGoal(ctx, s, change.GoalID); err != nil {
		return err
	}
	return a.changeAction(ctx, s, cortex.PendingAction{}, []cortex.ActionChange{change})
}

func (a *app) actionSetCommand() *cobra.Command {
	var f actionFlags
	var title, status string
	cmd := &cobra.Command{
		Use:   "set ACTION",
		Short: "Change an action's status, title, owner, due time, goal or evidence",
		Long: `Change an action's status, title, owner, due time, goal or evidence. A status must follow the one
there is; turnstone action show says which may, turnstone help action which there are.`,
		Example: `  turnstone action set 01JH5T8Q3VXK6Z0M4N7P9R2S1W --status in_progress --session tidewatch
  turnstone action set 01JH5T8Q3VXK6Z0M4N7P9R2S1W --due none --session tidewatch`,
		Args: arguments("ACTION"),
	}
	cmd.Flags().StringVar(&status, "status", "", "the next status")
	cmd.Flags().StringVar(&title, "title", "", "another title")
	f.add(cmd)
	keeps(cmd, "owner")
	return a.changingAction(cmd, func(cmd *cobra.Command, _ cortex.PendingAction) ([]cortex.ActionChange, error) {
		if !slices.ContainsFunc([]string{"status", "title", "owner", "due", "goal", "blocking", "confirm", "evidence"}, cmd.Flags().Changed) {
			return nil, usage("give --status, --title, --owner, --due, --goal, --blocking, --confirm or --evidence", "action set: there is nothing to set")
		}
		c := cortex.ActionChange{Title: given(cmd, "title", &title), Status: (*cortex.ActionStatus)(given(cmd, "status", &status))}
		err := f.fill(cmd, &c)
		return []cortex.ActionChange{c}, err
	})
}
