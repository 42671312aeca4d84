package main

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cortex"
)

func (a *app) goalListCommand() *cobra.Command {
	var session string
	var all bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the goals of a session",
		Example: "  turnstone goal list --session tidewatch\n  turnstone goal list --session tidewatch --all --json",
		Args:    arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := required(cmd, "session"); err != nil {
				return err
			}
			return a.withSession(cmd.Context(), session, func(s *turnstone.Session) error {
				return a.listGoals(cmd.Context(), s, all)
			})
		},
	}
	a.addSessionFlag(cmd, &session)
	cmd.Flags().BoolVar(&all, "all", false, "also those that are completed or abandoned")
	return cmd
}

func (a *app) listGoals(ctx context.Context, s *turnstone.Session, all bool) error {
	state, err := s.Intentions(ctx, all)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, g := range state.Goals() {
		if a.json {
			if err := a.print(append(g.AppendJSON(nil), '\n')); err != nil {
				return err
			}
		}
		rows = append(rows, []string{g.ID, string(g.Status), string(g.Priority), percent(g.Progress), g.Title})
	}
	if len(rows) == 0 {
		a.note("no goals; add one with: %s", a.line("goal add TITLE --session "+quoted(s.ID())))
	}
	if a.json {
		return nil
	}
	return a.table([]string{"GOAL", "STATUS", "PRIORITY", "DONE", "TITLE"}, rows)
}

func (a *app) goalShowCommand() *cobra.Command {
	var session string
	cmd := &cobra.Command{
		Use:               "show GOAL",
		Short:             "Show a goal with its milestones, decisions, artifacts and next steps",
		Example:           "  turnstone goal show \"Ship tidewatch 1.0\" --session tidewatch",
		Args:              arguments("GOAL"),
		ValidArgsFunction: a.completeGoals,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := required(cmd, "session"); err != nil {
				return err
			}
			return a.withSession(cmd.Context(), session, func(s *turnstone.Session) error {
				g, err := a.namedGoal(cmd.Context(), s, args[0])
				switch {
				case err != nil:
					return err
				case a.json:
					return a.print(append(g.AppendJSON(nil), '\n'))
				}
				return a.showGoal(g)
			})
		},
	}
	a.addSessionFlag(cmd, &session)
	return cmd
}

func (a *app) showGoal(g cortex.Goal) error {
	var milestones, decisions, artifacts []string
	for _, m := range g.Milestones {
		box := map[cortex.MilestoneStatus]string{cortex.MilestoneCompleted: "[x] ", cortex.MilestoneInProgress: "[~] "}[m.Status]
		if box == "" {
			box = "[ ] "
		}
		milestones = append(milestones, box+m.Description)
	}
	for _, d := range g.Decisions {
		text := d.Description
		if d.Locked {
			text += " (locked)"
		}
		if d.Rationale != "" {
			text += ": " + d.Rationale
		}
		decisions = append(decisions, text)
	}
	for _, f := range g.Artifacts {
		artifacts = append(artifacts, f.Path+" ("+f.Type+", "+string(f.Action)+")")
	}
	format := a.format()
	pairs := [][2]string{
		{"goal", g.ID}, {"title", g.Title}, {"description", g.Description}, {"status", standing(g.Status, g.Status.Next())},
		{"priority", string(g.Priority)}, {"progress", percent(g.Progress)}, {"part of", g.Parent},
	}
	pairs = append(pairs, listed("milestones", milestones)...)
	pairs = append(pairs, listed("decisions", decisions)...)
	pairs = append(pairs, listed("artifacts", artifacts)...)
	pairs = append(pairs, listed("next", g.NextSteps)...)
	pairs = append(pairs, [2]string{"created", format.Time(g.CreatedAt)}, [2]string{"changed", format.Time(g.UpdatedAt)})
	if !g.CompletedAt.IsZero() {
		pairs = append(pairs, [2]string{"completed", format.Time(g.CompletedAt)})
	}
	return a.fields(append(pairs, [2]string{"version", strconv.FormatInt(g.Version, 10)})...)
}

func (a *app) goalHistoryCommand() *cobra.Command {
	var session string
	cmd := &cobra.Command{
		Use:               "history GOAL",
		Short:             "Show every change of a goal, oldest first",
		Example:           "  turnstone goal history \"Ship tidewatch 1.0\" --session tidewatch",
		Args:              arguments("GOAL"),
		ValidArgsFunction: a.completeGoals,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := required(cmd, "session"); err != nil {
				return err
			}
			return a.withSession(cmd.Context(), session, func(s *turnstone.Session) error {
				g, err := a.namedGoal(cmd.Context(), s, args[0])
				if err != nil {
					return err
				}
				return a.printHistory(cmd.Context(), s, cortex.KindGoal, g.ID)
			})
		},
	}
	a.addSessionFlag(cmd, &session)
	return cmd
}
