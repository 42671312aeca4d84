package main

import (
	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
)

func (a *app) flowCompletedCommand() *cobra.Command {
	var session string
	cmd := &cobra.Command{
		Use:     "completed",
		Short:   "List the flows that were completed during the session",
		Example: "  turnstone flow completed --session tidewatch",
		Args:    arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := required(cmd, "session"); err != nil {
				return err
			}
			return a.withSession(cmd.Context(), session, func(s *turnstone.Session) error {
				flows, err := s.CompletedFlows(cmd.Context())
				if err != nil {
					return err
				}
				for _, id := range flows {
					if a.json {
						err = a.printJSON(map[string]string{"flow_id": id})
					} else {
						err = a.printf("%s", terminal.CleanLine(id))
					}
					if err != nil {
						return err
					}
				}
				if len(flows) == 0 {
					a.note("no flow was completed")
				}
				return nil
			})
		},
	}
	a.addSessionFlag(cmd, &session)
	return cmd
}
