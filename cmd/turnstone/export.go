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
	var o historyOptions
	cmd := group(&cobra.Command{
		Use:   "export",
		Short: "Write a session for other programs, or show a commit's StateExport",
		Long: `With --session, write the whole history of a session for other programs, every turn as it was said:

  session    one JSON document with messages and toolCalls (the default); nothing of a turn is lost
  lines      JSON Lines, a turn a line; nothing of a turn is lost
  openai     messages of chat completions
  anthropic  messages with blocks
  markdown   for people

It goes to standard output or, whole or not at all, to the file of --output. What the format has no place
for is listed on standard error. With --json the report is one object: on standard output beside a file,
and on standard error where the history itself goes to standard output. To bring a history in, use turnstone import; to move a session with its
goals, memory and notes, use turnstone bundle export.

The subcommands are about something else: every commit makes a StateExport, which daemons receive: what was
said, what is remembered and why, what was dropped, and what changed in goals and notes. To watch them as
they come, use turnstone daemon tail.`,
		Example: `  turnstone export --session tidewatch --format markdown
  turnstone export --session tidewatch --format session -o tidewatch.json
  turnstone export show 01JH5T8Q3VXK6Z0M4N7P9R2S1W
  turnstone export schema > state-export.schema.json`,
	}, a.exportShowCommand(), a.exportSchemaCommand())
	delete(cmd.Annotations, groupMark) // it does something by itself
	a.addHistoryFlags(cmd, &o)
	help := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().NFlag() == 0 {
			return help(cmd, args)
		}
		return a.exportHistory(cmd, o)
	}
	return cmd
}

func (a *app) exportShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Print a StateExport as JSON",
		Long: `Print a StateExport as JSON: on one line or, on a terminal, indented. ID is the export's, or that of
the turn that opened the exchange; where it opened one in a fork too, that of the session where it was
said. Exports are kept for 7 days after they were sent.`,
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
