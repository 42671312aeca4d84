package main

import (
	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

func (a *app) traceCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "trace ID",
		Short: "Show what happened in an exchange, as a timeline",
		Long: `Show what happened in an exchange: its phases with their times and a bar, then what was noted
on the way, what daemons did with it, and what was tried again. ID is that of the turn that opened the
exchange, or of its export. Of a turn that opened an exchange in a fork too, that of the session where it
was said is shown, and the export of the other is named. Traces are kept for 90 days.`,
		Example: `  turnstone trace 01JH5T8Q3VXK6Z0M4N7P9R2S1W
  turnstone trace 01JH5T8Q3VXK6Z0M4N7P9R2S1W --json`,
		Args:              arguments("ID"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withEngine(cmd.Context(), toFind, turnstone.Config{}, func(eng *turnstone.Engine) error {
				t, err := eng.Trace(cmd.Context(), args[0])
				if err != nil {
					return advise(err, turn.ErrNotFound, "turnstone commit prints both ids, turnstone query --json those of turns")
				}
				if a.json {
					return a.print(append(t.AppendJSON(nil), '\n'))
				}
				style := trace.Style{Width: terminal.Width(a.stdout), ASCII: !terminal.Is(a.stdout) || a.plain(), Local: a.format().Location}
				return a.print([]byte(terminal.Clean(trace.Render(t, style))))
			})
		},
	}
}
