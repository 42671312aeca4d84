package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/turn"
)

func (a *app) historyCommand() *cobra.Command {
	var session string
	var o turn.HistoryOptions
	var at int64
	cmd := &cobra.Command{
		Use:   "history",
		Short: "Show the last turns of a session",
		Long: `Show the last turns of a session, oldest first, as a model would be given them: without
system turns, so that --turns counts what user and agent said. A tool call always comes with its
results, which do not count; a call that still waits for one is left out. With --keep-system all
turns are shown and counted.`,
		Example: "  turnstone history --session demo\n  turnstone history --session demo --turns 50 --keep-system --json",
		Args:    arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := required(cmd, "session"); err != nil {
				return err
			}
			point, err := position(cmd, at)
			if err != nil {
				return err
			}
			return a.withSession(cmd.Context(), session, func(s *turnstone.Session) error {
				return a.history(cmd.Context(), s, o, point)
			})
		},
	}
	a.addSessionFlag(cmd, &session)
	cmd.Flags().IntVar(&o.Turns, "turns", turn.WindowSize, "how many")
	cmd.Flags().BoolVar(&o.KeepSystem, "keep-system", false, "system turns too")
	addAtFlag(cmd, &at, "as it was after this `turn` (default the newest)")
	return cmd
}

func (a *app) history(ctx context.Context, s *turnstone.Session, o turn.HistoryOptions, at int64) error {
	if at != turnstone.Head {
		info, err := s.Info(ctx)
		if err != nil {
			return err
		}
		if at > info.Head {
			return advise(fmt.Errorf("turn %d of %s: %w", at, s.ID(), turn.ErrNotFound), turn.ErrNotFound,
				fmt.Sprintf("the last is %d", info.Head))
		}
		o.UpTo = at
	}
	// Zero stands for now in the options, and for the time before the first turn on the command line.
	if at == 0 {
		o.Turns = min(o.Turns, 0)
	}
	turns, err := s.History(ctx, o)
	if err != nil {
		return err
	}
	if len(turns) == 0 {
		a.note("no turns")
	}
	return a.printTurns(turns)
}
