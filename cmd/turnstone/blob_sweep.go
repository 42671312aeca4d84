package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
)

func (a *app) blobSweepCommand() *cobra.Command {
	var grace time.Duration
	cmd := &cobra.Command{
		Use:   "sweep",
		Short: "Delete the bytes that no turn names any more",
		Long: `Delete the bytes of images and recordings that no turn of any tenant has named for the time of
--grace, and print how many there were.`,
		Example: "  turnstone blob sweep",
		Args:    arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if grace <= 0 {
				return usage("give a time such as 24h", "grace: %s is no time to wait", grace)
			}
			return a.withEngine(cmd.Context(), toUse, turnstone.Config{BlobGrace: grace}, func(eng *turnstone.Engine) error {
				swept, err := eng.SweepBlobs(cmd.Context())
				switch {
				case err != nil:
					return err
				case a.json:
					return a.printJSON(map[string]int64{"swept": swept})
				}
				return a.printf("swept %s", progress.Count(swept, "blob"))
			})
		},
	}
	cmd.Flags().DurationVar(&grace, "grace", 24*time.Hour, "how long nothing may have named them")
	return cmd
}
