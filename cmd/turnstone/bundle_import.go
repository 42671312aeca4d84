package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/turn"
)

func (a *app) bundleImportCommand() *cobra.Command {
	var as string
	var l limits
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Make a session of a bundle",
		Long: `Make a session of a bundle, under its own id or the one given with --as, for the tenant of
--tenant whatever the bundle's was. Turns keep their ids, numbers and times. A bundle that is
damaged or of a newer version is refused, and nothing of it is stored. FILE - is standard input.`,
		Example: "  turnstone bundle import demo.bundle\n  turnstone bundle import demo.bundle --as copy",
		Args:    arguments("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withBundle(cmd.Context(), args[0], func(open func() (io.ReadCloser, error)) error {
				bounds, err := l.turnLimits()
				if err != nil {
					return err
				}
				return a.importBundle(cmd.Context(), open, replay.ImportOptions{As: as, Limits: bounds})
			})
		},
	}
	cmd.Flags().StringVar(&as, "as", "", "the new session's `id` (default the bundle's)")
	l.addFlags(cmd)
	return cmd
}

func (a *app) importBundle(ctx context.Context, open func() (io.ReadCloser, error), o replay.ImportOptions) (err error) {
	// A file that is not there must not leave an empty store behind.
	f, err := open()
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	st, err := a.openStore(ctx, toMake)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	if o.Tenant = a.tenant(); o.Tenant == "" {
		o.Tenant = turn.DefaultTenant
	}
	var info turn.SessionInfo
	err = a.tracked("import", func(report func(done, total int64)) (err error) {
		o.Progress = report
		info, err = replay.Import(ctx, st, open, o)
		return err
	})
	switch {
	case err != nil:
		return advise(err, turn.ErrExists, "give it another id with --as")
	case a.json:
		return a.printJSON(newSessionJSON(info))
	}
	return a.printf("imported %s: %s", info.Session, progress.Count(info.Head, "turn"))
}
