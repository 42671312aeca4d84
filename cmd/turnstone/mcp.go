package main

import (
	"context"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/server/mcp"
)

func (a *app) mcpCommand() *cobra.Command {
	var c modelFlags
	var session string
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve a client of the Model Context Protocol on standard input and output",
		Long: `Serve a client of the Model Context Protocol on standard input and output, until it closes them. It is for a
client to start: in its settings, name this command. The client gets tools to remember, recall and search, to read and
set goals, to compile the prompt, take snapshots and undo, and resources for sessions, checkpoints and traces.

What a client asks without naming a session is about the session that --session names. turnstone serve offers the same
over HTTP, at /mcp.`,
		Example: `  turnstone mcp
  turnstone mcp --store ~/notes.db --session home`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if terminal.Is(a.stdin) {
				return usage("name this command in the settings of a client, which starts it", "mcp: standard input is a terminal")
			}
			known, err := a.known(c)
			if err != nil {
				return err
			}
			config, err := known.config(cmd.Context(), "")
			if err != nil {
				return err
			}
			return a.withEngine(cmd.Context(), toMake, config, func(eng *turnstone.Engine) error {
				return a.serveMCP(cmd.Context(), eng, session)
			})
		},
	}
	cmd.Flags().StringVar(&session, "session", mcp.DefaultSession, "the `session` that is meant where a client names none")
	completing(cmd, "session", a.completeSessions)
	c.addFlags(cmd)
	return cmd
}

func (a *app) serveMCP(ctx context.Context, eng *turnstone.Engine, session string) error {
	in, ok := a.stdin.(io.ReadCloser)
	if !ok {
		in = io.NopCloser(a.stdin)
	}
	log := slog.NewTextHandler(sayer{a}, nil)
	return mcp.New(mcp.Config{Session: session, Version: buildVersion(), Log: log}).Serve(ctx, eng, in, open{a.stdout})
}

// open is an output that stays open when a server is done with it.
type open struct{ io.Writer }

func (open) Close() error { return nil }

// sayer says lines on standard error, without secrets.
type sayer struct{ a *app }

func (s sayer) Write(line []byte) (int, error) {
	s.a.say(strings.TrimSuffix(string(line), "\n"))
	return len(line), nil
}
