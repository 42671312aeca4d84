package main

import (
	"context"
	"math"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/turn"
)

func (a *app) historyCommand() *cobra.Command {
	var session string
	var o turn.HistoryOptions
	var at int64
	var all bool
	cmd := &cobra.Command{
		Use:   "history",
		Short: "Show the last turns of a session",
		Long: `Show the last turns of a session, oldest first, as a model would be given them: utterances, which
are text and speech of user and agent, with the results of their tool calls, which do not count.
Images, actions and system turns are shown and counted only with --keep-system. A call that still
waits for its result is shown by turnstone query only. --all shows the whole log from its first turn on, and marks what
was left behind when the session went back to a snapshot; with --turns it shows the last of that.`,
		Example: "  turnstone history --session tidewatch\n  turnstone history --session tidewatch --turns 50 --keep-system --json\n  turnstone history --session tidewatch --all",
		Args:    arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := required(cmd, "session"); err != nil {
				return err
			}
			point, err := position(cmd, at)
			if err != nil {
				return err
			}
			if all && !cmd.Flags().Changed("turns") {
				o.Turns = math.MaxInt
			}
			return a.withSession(cmd.Context(), session, func(s *turnstone.Session) error {
				return a.history(cmd.Context(), s, o, point, all)
			})
		},
	}
	a.addSessionFlag(cmd, &session)
	cmd.Flags().IntVar(&o.Turns, "turns", turn.WindowSize, "how many; with --all every one, unless it is given")
	cmd.Flags().BoolVar(&o.KeepSystem, "keep-system", false, "images, actions and system turns too")
	cmd.Flags().BoolVar(&all, "all", false, "the whole log, with the turns after a snapshot that the session went back to, which its prompts do not show any more")
	addAtFlag(cmd, &at, "as it was after this `turn` (default the newest)")
	return cmd
}

func (a *app) history(ctx context.Context, s *turnstone.Session, o turn.HistoryOptions, at int64, all bool) error {
	there, err := reach(ctx, s, at)
	if err != nil {
		return err
	}
	if at != turnstone.Head {
		o.UpTo = at
	}
	// Zero stands for now in the options, and for the time before the first turn on the command line.
	if at == 0 {
		o.Turns = min(o.Turns, 0)
	}
	epoch, err := s.Epoch(ctx, at)
	if err != nil {
		return err
	}
	path := turn.Path(epoch.Path)
	if all {
		o.Path = turn.WholePath()
	}
	turns, err := s.History(ctx, o)
	if err != nil {
		return err
	}
	switch many := progress.Count(there, "turn"); {
	case len(turns) > 0:
	case there == 0:
		a.note("no turns")
	case o.Turns <= 0:
		a.note("--turns %d shows none of %s", o.Turns, many)
	case o.KeepSystem:
		a.note("no turns to show among %s", many)
	default:
		a.note("no utterances among %s; --keep-system shows all", many)
	}
	if !all && o.Turns > 0 {
		first := int64(1)
		if len(turns) > 0 {
			first = turns[0].Seq
		}
		left := leftOut(path, first, there)
		if left > 0 {
			summaries, err := summariesIn(ctx, s, first, there, path.Off)
			if err != nil {
				return err
			}
			left -= summaries
		}
		a.noteLeftOut(left)
	}
	return a.printTurns(turns, path)
}
