package main

import (
	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone/dialogue"
)

// addFollowUpFlag adds how long the follow-up context lives, for commands that last.
func (a *app) addFollowUpFlag(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&a.followUp, "follow-up-timeout", dialogue.LightTimeout, "how long a session's follow-up context is kept after it was stored")
}

func (a *app) checkFollowUp() error {
	if a.followUp <= 0 {
		return usage("give a time such as 30m", "--follow-up-timeout: %s is no time to keep something", a.followUp)
	}
	return nil
}
