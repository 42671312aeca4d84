package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/event"
)

func (a *app) exportCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "export",
		Short: "Show what a commit tells daemons: its StateExport",
		Long: `Every commit makes a StateExport, which daemons receive: what was said, what is remembered and why,
what was dropped, and what changed in goals and notes. To watch them as they come, use turnstone daemon tail.`,
		Example: "  turnstone export show 01JH5T8Q3VXK6Z0M4N7P9R2S1W\n  turnstone export schema > state-export.schema.json",
	}, a.exportShowCommand(), a.exportSchemaCommand())
}

func (a *app) exportShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Print a StateExport as JSON",
		Long: `Print a StateExport as JSON: on one line or, on a terminal, indented. ID is the export's, or that of
the turn that opened the exchange. Exports are kept for 7 days after they were sent.`,
		Example:           "  turnstone export show 01JH5T8Q3VXK6Z0M4N7P9R2S1W",
		Args:              arguments("ID"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withEngine(cmd.Context(), toFind, turnstone.Config{}, func(eng *turnstone.Engine) error {
				export, err := eng.Export(cmd.Context(), args[0])
				if err != nil {
					return advise(err, event.ErrNotFound, "turnstone commit prints the id, and they are kept for 7 days")
				}
				line := export.AppendJSON(nil)
				if a.json || !terminal.Is(a.stdout) {
					return a.print(append(line, '\n'))
				}
				var pretty bytes.Buffer
				if err := json.Indent(&pretty, line, "", "  "); err != nil {
					return fmt.Errorf("export %s: %w", args[0], err)
				}
				return a.printf("%s", terminal.Clean(pretty.String()))
			})
		},
	}
}

func (a *app) exportSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON Schema of StateExports",
		Example: "  turnstone export schema > state-export.schema.json",
		Args:    arguments(),
		RunE:    func(*cobra.Command, []string) error { return a.print([]byte(turnstone.StateExportSchema())) },
	}
}
