package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/turn"
)

func (a *app) sessionRepairCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "repair SESSION",
		Short: "Close tool calls that a crash left open",
		Long: `Close tool calls that a crash left open: each gets a cancelled result, marked as synthetic,
and is printed. A session that somebody is at work on is left alone.`,
		Example:           "  turnstone session repair tidewatch",
		Args:              arguments("SESSION"),
		ValidArgsFunction: a.completeSessions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withSession(cmd.Context(), args[0], func(s *turnstone.Session) error {
				return a.repair(cmd.Context(), s)
			})
		},
	}
}

func (a *app) repair(ctx context.Context, s *turnstone.Session) (err error) {
	before, err := s.Info(ctx)
	if err != nil {
		return err
	}
	lease, err := s.Acquire(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lease.Release(context.WithoutCancel(ctx))) }()
	q := turn.Query{From: before.Head + 1, Role: turn.System, Form: turn.FormAction, Limit: 10_000}
	page, err := s.Query(ctx, q)
	if err != nil {
		return err
	}
	closed := page.Turns[:0]
	for _, t := range page.Turns {
		if r, ok := t.Content.(turn.Result); ok && r.Synthetic {
			closed = append(closed, t)
		}
	}
	if len(closed) == 0 {
		a.note("nothing to repair: no call was open")
		return nil
	}
	return a.printTurns(closed, nil)
}
