package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/turn"
)

func (a *app) sessionForkCommand() *cobra.Command {
	var about description
	var at int64
	var bookmark string
	cmd := &cobra.Command{
		Use:   "fork SESSION [NEW_SESSION]",
		Short: "Make a session that shares another's turns up to a point",
		Long: `Make a session that shares another's turns up to a point, without copying them, and print
its id. It goes on from there with the dialogue state of that point. Without NEW_SESSION an id is made.`,
		Example: "  turnstone session fork tidewatch other --at 12\n  turnstone session fork tidewatch --bookmark end-of-demo",
		Args:    arguments("SESSION", "[NEW_SESSION]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := exclusive(cmd, "at", "bookmark"); err != nil {
				return err
			}
			id := ""
			if len(args) > 1 {
				id = args[1]
			}
			return a.withSession(cmd.Context(), args[0], func(s *turnstone.Session) error {
				point, err := position(cmd, at)
				if err == nil && bookmark != "" {
					point, err = a.bookmarked(cmd.Context(), s, bookmark)
				}
				if err != nil {
					return err
				}
				if _, err := reach(cmd.Context(), s, point); err != nil {
					return err
				}
				fork, err := s.Fork(cmd.Context(), point, about.info(id))
				if err != nil {
					return err
				}
				return a.printMade(cmd, fork)
			})
		},
		ValidArgsFunction: a.completeSessions,
	}
	addAtFlag(cmd, &at, "the last `turn` to share (default the newest)")
	cmd.Flags().StringVar(&bookmark, "bookmark", "", "fork at this bookmark")
	about.addFlags(cmd)
	return cmd
}

func addAtFlag(cmd *cobra.Command, at *int64, help string) {
	cmd.Flags().Int64Var(at, "at", 0, help)
}

// position is the turn that --at names, or the head where it is not given.
func position(cmd *cobra.Command, at int64) (int64, error) {
	if !cmd.Flags().Changed("at") {
		return turnstone.Head, nil
	}
	if at < 0 {
		return 0, usage("give the number of a turn, or 0 for the beginning", "at: %d is negative", at)
	}
	return at, nil
}

// reach returns how many turns there are up to a position, and refuses one that the session has not
// come to.
func reach(ctx context.Context, s *turnstone.Session, at int64) (int64, error) {
	info, err := s.Info(ctx)
	if err != nil {
		return 0, err
	}
	if at == turnstone.Head {
		return info.Head, nil
	}
	if at > info.Head {
		return 0, &advised{err: fmt.Errorf("turn %d of %s: %w", at, s.ID(), turn.ErrNotFound), next: fmt.Sprintf("the last is %d", info.Head)}
	}
	return at, nil
}

func (a *app) bookmarked(ctx context.Context, s *turnstone.Session, name string) (int64, error) {
	list, err := s.Bookmarks(ctx)
	if err != nil {
		return 0, err
	}
	for _, b := range list {
		if b.Name == name {
			return b.Seq, nil
		}
	}
	return 0, advise(fmt.Errorf("bookmark %s of %s: %w", name, s.ID(), turn.ErrNotFound), turn.ErrNotFound,
		"see which there are with: "+a.line("session bookmark "+s.ID()))
}
