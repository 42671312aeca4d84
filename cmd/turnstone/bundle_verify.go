package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/replay"
)

func (a *app) bundleVerifyCommand() *cobra.Command {
	var l limits
	cmd := &cobra.Command{
		Use:     "verify FILE",
		Short:   "Prove that a bundle is whole",
		Long:    "Read a bundle and check everything that an import would check. Nothing is written.",
		Example: "  turnstone bundle verify tidewatch.bundle",
		Args:    arguments("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			bounds, err := l.turnLimits()
			if err != nil {
				return err
			}
			var bundle replay.Bundle
			err = a.withBundle(cmd.Context(), args[0], func(open func() (io.ReadCloser, error)) error {
				f, err := open()
				if err != nil {
					return fmt.Errorf("bundle: %w", err)
				}
				defer f.Close() // only read from
				return a.tracked("verify", func(report func(done, total int64)) (err error) {
					bundle, err = replay.Verify(cmd.Context(), f, replay.VerifyOptions{Limits: bounds, Progress: report})
					return err
				})
			})
			switch {
			case err != nil:
				return flagged(err)
			case a.json:
				return a.printJSON(newBundleJSON("", bundle))
			}
			return a.printf("whole: session %s, %s, made %s", bundle.Session.Session,
				progress.Count(bundle.Turns, "turn"), a.format().Time(bundle.CreatedAt))
		},
	}
	l.addFlags(cmd)
	return cmd
}
