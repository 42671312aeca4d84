package main

import (
	"context"
	"io"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/replay"
)

type exportOptions struct {
	session, file     string
	noCompress, force bool
}

func (a *app) bundleExportCommand() *cobra.Command {
	var o exportOptions
	cmd := &cobra.Command{
		Use:   "export [FILE]",
		Short: "Write a session to a bundle",
		Long: `Write a session as it is now to a bundle, by default SESSION.bundle. FILE - is standard output.
The file is there whole or not at all; one that is there already is kept unless --force is given. Links are followed,
and devices and named pipes are written into.`,
		Example: `  turnstone bundle export --session tidewatch tidewatch.bundle
  turnstone bundle export --session tidewatch - | turnstone --store other.db bundle import -`,
		Args: arguments("[FILE]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := required(cmd, "session"); err != nil {
				return err
			}
			// Ids may hold a colon, which not every file system takes.
			if o.file = url.QueryEscape(o.session) + ".bundle"; len(args) > 0 {
				o.file = outputPath(args[0])
			}
			if o.file == stdio && !o.noCompress && terminal.Is(a.stdout) {
				return usage("name a file, or read it with --no-compress", "bundle export: a packed bundle is nothing for a terminal")
			}
			return a.withSession(cmd.Context(), o.session, func(s *turnstone.Session) error {
				return a.exportBundle(cmd.Context(), s, o)
			})
		},
	}
	a.addSessionFlag(cmd, &o.session)
	cmd.Flags().BoolVar(&o.noCompress, "no-compress", false, "write readable JSON Lines")
	cmd.Flags().BoolVar(&o.force, "force", false, "replace a file that is there")
	return cmd
}

func (a *app) exportBundle(ctx context.Context, s *turnstone.Session, o exportOptions) error {
	var bundle replay.Bundle
	err := a.tracked("export "+s.ID(), func(report func(done, total int64)) error {
		write := func(w io.Writer) (err error) {
			bundle, err = s.WriteBundle(ctx, w, replay.WriteOptions{Compress: !o.noCompress, Progress: report})
			return err
		}
		if o.file == stdio {
			return write(a.out)
		}
		return writeWhole(o.file, o.force, write)
	})
	switch {
	case err != nil || o.file == stdio:
		return err
	case a.json:
		return a.printJSON(newBundleJSON(o.file, bundle))
	}
	return a.printf("exported %s to %s: %s", s.ID(), o.file, progress.Count(bundle.Turns, "turn"))
}
