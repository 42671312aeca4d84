package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
)

// helpCommand is Cobra's with errors like everybody else's.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]...",
		Short:   "Help about any command or topic",
		Example: "  turnstone help session end\n  turnstone help exit-codes",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return subcommandOf(about, rest)
			}
			about.InitDefaultHelpFlag()
			about.InitDefaultVersionFlag()
			return about.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
			about, rest, err := cmd.Root().Find(args)
			if err == nil && len(rest) == 0 {
				for _, c := range about.Commands() {
					names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// exitCodesTopic is help about the table in exit.go.
func exitCodesTopic() *cobra.Command {
	text := "Every run ends with one of these codes:\n\n    0  done; of a commit also where its status is complete_with_errors, interrupted or failed\n"
	for _, o := range slices.SortedFunc(slices.Values(outcomes), func(a, b outcome) int { return a.code - b.code }) {
		text += fmt.Sprintf("  %3d  %s\n", o.code, o.meaning)
	}
	text += "\nWith a code other than 0, the last line on standard error says what is wrong and what to do next."
	return &cobra.Command{Use: "exit-codes", Short: "What the exit codes mean", Long: text}
}

func environmentTopic() *cobra.Command {
	return &cobra.Command{Use: "environment", Short: "Which environment variables are read", Long: `A flag goes over the variable of the same meaning, and that over the file of settings; see turnstone config --help.

  TURNSTONE_STORE   --store: a file path or a postgres:// URL
  TURNSTONE_TENANT  --tenant
  TURNSTONE_CONFIG  --config: your file of settings
  TURNSTONE_MODELS  --models: a file with models of your own
  TURNSTONE_URL     --url: the model server, which turnstone chat and serve ask, and which is asked for exact counts of
                    local models' tokens if it is an Ollama; TURNSTONE_UPSTREAM, as it was called, is read too, by serve first
  OLLAMA_HOST       the same where there is none, as Ollama itself reads it; TURNSTONE_OLLAMA goes over it
  TURNSTONE_MODEL   the model that turnstone chat talks with, and turnstone serve answers with, where
                    neither --model nor the session says
  OPENAI_API_KEY    the key of OpenAI's server; --key-env of turnstone chat and serve names another variable
  TURNSTONE_ADDR    --addr of turnstone serve: where it listens
  TURNSTONE_BUS     --bus of turnstone serve: the nats:// URL of the bus, or inside
  TURNSTONE_SESSIONS
                    --sessions-dir of session end, serve and forget: where histories are written when sessions end
  OTEL_EXPORTER_OTLP_ENDPOINT
                    where turnstone serve sends OpenTelemetry spans, over HTTP; the other OTEL_ variables hold too
  NO_COLOR          no colours, whatever its value
  TERM              no colours and no screen for turnstone chat if it is dumb or, but on Windows, not set
  TZ                the zone that times are shown in
  XDG_DATA_HOME     where the default store is, in turnstone/turnstone.db; otherwise
                    ~/.local/share, ~/Library/Application Support or %LocalAppData%
  XDG_CONFIG_HOME   where the default config.toml and models.toml are, in turnstone; otherwise ~/.config,
                    ~/Library/Application Support or %AppData%
  XDG_CACHE_HOME    where vocabularies are cached, in turnstone/vocabularies; otherwise ~/.cache,
                    ~/Library/Caches or %LocalAppData%
  LC_ALL, LC_CTYPE, LANG  turnstone status shows icons on a terminal if the first one set says UTF-8

PostgreSQL's own variables (PGPASSWORD, PGSSLMODE ...) and password file are honoured too.`}
}
