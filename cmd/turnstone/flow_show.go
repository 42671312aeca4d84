package main

import (
	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
)

func (a *app) flowShowCommand() *cobra.Command {
	var session string
	var at int64
	cmd := &cobra.Command{
		Use:     "show",
		Short:   "Show the dialogue state, now or as it was",
		Example: "  turnstone flow show --session tidewatch\n  turnstone flow show --session tidewatch --at 12 --json",
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
				if _, err := reach(cmd.Context(), s, point); err != nil {
					return err
				}
				rev, err := s.State(cmd.Context(), point)
				if err != nil {
					return err
				}
				if !a.json {
					return a.print(a.format().AppendState(nil, rev))
				}
				line, err := appendRevision(nil, rev)
				if err != nil {
					return err
				}
				return a.print(append(line, '\n'))
			})
		},
	}
	a.addSessionFlag(cmd, &session)
	addAtFlag(cmd, &at, "as it was after this `turn` (default the newest)")
	return cmd
}
