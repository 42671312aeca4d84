package main

import (
	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
)

func (a *app) sessionCreateCommand() *cobra.Command {
	var about description
	cmd := &cobra.Command{
		Use:     "create [SESSION]",
		Short:   "Create a session and print its id",
		Long:    "Create a session and print its id. Without SESSION an id is made.",
		Example: "  turnstone session create trip --user alice --title \"First steps\"\n  id=$(turnstone session create)",
		Args:    arguments("[SESSION]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id := ""
			if len(args) > 0 {
				if id = args[0]; id == "" {
					return usage("leave it out to have one made", "session: is empty")
				}
			}
			return a.withEngine(cmd.Context(), toMake, turnstone.Config{}, func(eng *turnstone.Engine) error {
				s, err := eng.Create(cmd.Context(), about.info(id))
				if err != nil {
					return err
				}
				return a.printMade(cmd, s)
			})
		},
	}
	about.addFlags(cmd)
	return cmd
}
