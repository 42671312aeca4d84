package main

import (
	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
)

func (a *app) sessionSetCommand() *cobra.Command {
	var about description
	cmd := &cobra.Command{
		Use:     "set SESSION",
		Short:   "Change what a session is described with",
		Long:    "Change the user, title, model or mode of a session. What is not given stays as it is.",
		Example: "  turnstone session set tidewatch --title \"Second thoughts\"",
		Args:    arguments("SESSION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := about.check(cmd); err != nil {
				return err
			}
			if about == (description{}) {
				return usage("give --title, --user, --model or --mode", "session set: there is nothing to set")
			}
			return a.withSession(cmd.Context(), args[0], func(s *turnstone.Session) error {
				if err := s.Describe(cmd.Context(), about.info(s.ID())); err != nil {
					return err
				}
				return a.printMade(cmd, s)
			})
		},
		ValidArgsFunction: a.completeSessions,
	}
	about.addFlags(cmd)
	return cmd
}
