package main

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/replay/history"
)

type historyOptions struct {
	session, format, file string
	force                 bool
}

func (a *app) addHistoryFlags(cmd *cobra.Command, o *historyOptions) {
	a.addSessionFlag(cmd, &o.session)
	names := formats(history.Format.Writes)
	cmd.Flags().StringVar(&o.format, "format", string(history.Session), strings.Join(names, ", "))
	cmd.Flags().StringVarP(&o.file, "output", "o", stdio, "`file` to write, - for standard output")
	cmd.Flags().BoolVar(&o.force, "force", false, "replace a file that is there")
	choices(cmd, "format", names...)
}

// exportHistory writes all turns of a session for other programs.
func (a *app) exportHistory(cmd *cobra.Command, o historyOptions) error {
	if err := required(cmd, "session"); err != nil {
		return err
	}
	if names := formats(history.Format.Writes); !slices.Contains(names, o.format) {
		return usage("use "+strings.Join(names, ", "), "format: %q cannot be written", o.format)
	}
	o.file = outputPath(o.file)
	ctx := cmd.Context()
	k, err := a.known(modelFlags{})
	if err != nil {
		return err
	}
	return a.withEngine(ctx, toFind, turnstone.Config{Profiles: k.profiles}, func(eng *turnstone.Engine) error {
		s, err := a.find(ctx, eng, o.session)
		if err != nil {
			return err
		}
		report, err := a.writeHistory(ctx, s, o)
		if err != nil {
			return err
		}
		return a.printExported(s.ID(), o, report)
	})
}

// printExported says what was written, beside the history where that is on standard output.
func (a *app) printExported(session string, o historyOptions, report history.Report) error {
	if a.json {
		line, err := encodeJSON(exportedJSON{session, o.file, o.format, report.Turns, newLossesJSON(report)})
		switch {
		case err != nil:
			return err
		case o.file != stdio:
			return a.print(append(line, '\n'))
		}
		a.note("%s", line)
		return nil
	}
	for _, l := range report.Losses {
		a.note("%s", lossLine(l))
	}
	if o.file == stdio {
		return nil
	}
	return a.printf("exported %s to %s: %s", session, o.file, progress.Count(int64(report.Turns), "turn"))
}

type exportedJSON struct {
	Session string     `json:"session_id"`
	File    string     `json:"file"`
	Format  string     `json:"format"`
	Turns   int        `json:"turns"`
	Losses  []lossJSON `json:"losses"`
}

func (a *app) writeHistory(ctx context.Context, s *turnstone.Session, o historyOptions) (report history.Report, err error) {
	bar := a.bar(progress.Config{Label: "export " + s.ID(), Unit: "bytes"})
	defer bar.Clear()
	write := func(w io.Writer) (err error) {
		report, err = s.ExportHistory(ctx, &tracked{w, bar}, history.Format(o.format))
		return err
	}
	if o.file == stdio {
		err = write(a.out) // by itself: in a return nothing says that the report is read after it
		return report, err
	}
	err = writeWhole(o.file, o.force, write)
	return report, err
}

// tracked draws how much was written.
type tracked struct {
	io.Writer
	bar *progress.Bar
}

func (t *tracked) Write(p []byte) (int, error) {
	n, err := t.Writer.Write(p)
	t.bar.Add(int64(n))
	return n, err
}

// lossLine says what could not be carried.
func lossLine(l history.Loss) string { return "not carried: " + terminal.CleanLine(l.String()) }
