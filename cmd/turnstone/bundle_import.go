package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

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
		Example: "  turnstone --store other.db bundle import tidewatch.bundle\n  turnstone bundle import tidewatch.bundle --as copy",
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

func (a *app) importBundle(ctx context.Context, open func() (io.ReadCloser, error), o replay.ImportOptions) error {
	// A file that is not there must not make a folder for the store.
	f, err := open()
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if o.Tenant = a.tenant(); o.Tenant == "" {
		o.Tenant = turn.DefaultTenant
	}
	p, err := a.storePlace()
	if err != nil {
		return err
	}
	fill := a.importInto
	if p.isNew() {
		fill = a.importNew
	}
	info, err := fill(ctx, p, open, o)
	if err != nil {
		return flagged(advise(err, turn.ErrExists, "give it another id with --as"))
	}
	a.stored = "session " + info.Session + " is stored"
	if a.json {
		return a.printJSON(newSessionJSON(info))
	}
	return a.printf("imported %s: %s", info.Session, progress.Count(info.Head, "turn"))
}

// isNew reports whether a store would have to be made there.
func (p place) isNew() bool {
	_, err := os.Lstat(p.path)
	return p.url == "" && errors.Is(err, fs.ErrNotExist)
}

// importNew makes a store of a bundle under another name first: a bundle that is refused leaves no
// store behind.
func (a *app) importNew(ctx context.Context, p place, open func() (io.ReadCloser, error), o replay.ImportOptions) (info turn.SessionInfo, err error) {
	if err := p.prepare(ctx, toMake); err != nil {
		return info, err
	}
	temporary := a.temporaryBeside(p.path)
	defer func() {
		if err != nil {
			err = errors.Join(err, temporary.remove())
		}
	}()
	if info, err = a.importInto(ctx, temporary, open, o); err != nil {
		return info, underName(err, temporary.path, p.path)
	}
	return info, advise(put(temporary.path, p.path), fs.ErrExist, "somebody else made it just now; try again")
}

func (a *app) importInto(ctx context.Context, p place, open func() (io.ReadCloser, error), o replay.ImportOptions) (info turn.SessionInfo, err error) {
	st, err := p.open(ctx, toMake)
	if err != nil {
		return info, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	passes := twoPasses{app: a, first: "verifying", second: "importing"}
	o.Progress = passes.report
	info, err = replay.Import(ctx, st, open, o)
	passes.bar.Clear()
	if err != nil {
		return info, err
	}
	bar := a.bar(progress.Config{Label: "indexing"})
	err = st.IndexText(ctx)
	bar.Clear()
	if err != nil {
		// The session is there all the same, and the index catches up by itself.
		a.note("the text is not indexed yet: %v", err)
	}
	return info, nil
}

// twoPasses draws work that goes over everything twice as two bars, one after the other.
type twoPasses struct {
	*app
	first, second string
	label         string // of the bar
	bar           *progress.Bar
}

func (t *twoPasses) report(done, total int64) {
	each, label := total/2, t.first
	if done > each {
		done, label = done-each, t.second
	}
	if label != t.label {
		t.bar.Report(each, each)
		t.bar.Clear()
		t.label, t.bar = label, t.app.bar(progress.Config{Label: label, Unit: "turns", Total: each})
	}
	t.bar.Report(done, each)
}
