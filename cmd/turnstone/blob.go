package main

import "github.com/spf13/cobra"

func (a *app) blobCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "blob",
		Short: "Get the bytes of images and recordings, and sweep those nobody needs",
		Long: `The bytes of images and recordings are kept once for each tenant, under their SHA-256. Turns name
it; turnstone query --form image --json shows it.`,
		Example: "  turnstone blob get SHA256 --out cat.png\n  turnstone blob sweep",
	}, a.blobGetCommand(), a.blobSweepCommand())
}
