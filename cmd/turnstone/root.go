package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

const overview = `Turnstone keeps conversations: every turn exactly as it happened.

Try these first:

  turnstone demo
  turnstone chat
  turnstone append --session tidewatch --role user --text "Hello"
  turnstone history --session tidewatch
  turnstone session list

All commands: turnstone help`

func (a *app) rootCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "turnstone",
		Short: "Keep conversations exactly, and show, search, move and replay them",
		Long: `Turnstone keeps conversations: every turn exactly as it happened.

A flag goes over an environment variable, that over the file of settings, and that over the default. See also
turnstone config --help, turnstone help environment and turnstone help exit-codes.`,
		Example: `  turnstone append --session tidewatch --role user --text "Hello"
  turnstone history --session tidewatch
  turnstone query --session tidewatch --text hello`,
		Args:          subcommandOf,
		Version:       buildVersion(),
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(*cobra.Command, []string) error { return a.printf(overview) },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			// An empty variable of a script would mean another store, tenant or session than it was to.
			for _, name := range []string{"store", "tenant", "session", "config"} {
				if flag := cmd.Flag(name); flag != nil && flag.Changed && flag.Value.String() == "" {
					return usage("give a value or leave it out", "--%s: is empty", name)
				}
			}
			if isUnsettled(cmd) {
				return nil
			}
			return a.configure(cmd)
		},
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return flagError(cmd, err)
	})
	cmd.SetVersionTemplate("turnstone {{.Version}}\n")
	flags := cmd.PersistentFlags()
	flags.SortFlags = false
	flags.StringVar(&a.storeFlag, "store", "", "`place` of the store, a file or a postgres:// URL (default turnstone.db in your data folder)")
	flags.StringVar(&a.tenantFlag, "tenant", "", "whose sessions are meant (default \"default\")")
	flags.StringVar(&a.configFlag, "config", "", "`file` of settings (default config.toml in your settings folder)")
	flags.BoolVar(&a.json, "json", false, "answer in JSON, lists as one object a line")
	flags.BoolVar(&a.noColor, "no-color", false, "no colours")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "no notes and no progress on standard error")
	cmd.AddGroup(
		&cobra.Group{ID: groupTalk, Title: "Conversations:"},
		&cobra.Group{ID: groupMind, Title: "What came of them:"},
		&cobra.Group{ID: groupMove, Title: "Moving and replaying:"},
		&cobra.Group{ID: groupCare, Title: "Care:"},
	)
	cmd.SetHelpCommand(helpCommand())
	cmd.SetHelpCommandGroupID(groupCare)
	cmd.SetCompletionCommandGroupID(groupCare)
	for id, commands := range map[string][]*cobra.Command{
		groupTalk: {a.chatCommand(), a.sessionCommand(), a.appendCommand(), a.commitCommand(), a.historyCommand(), a.queryCommand(), a.recallCommand(), a.promptCommand(), a.pinCommand(), a.statusCommand(), a.compressCommand(), a.checkpointsCommand(), a.undoCommand(), a.snapshotCommand(), a.eventsCommand(), a.flowCommand(), a.lightCommand(), a.forgetCommand()},
		groupMind: {a.memoryCommand(), a.goalCommand(), a.actionCommand(), a.scratchCommand(), a.traceCommand(), a.exportCommand(), a.daemonCommand(), a.mcpCommand()},
		groupMove: {a.demoCommand(), a.importCommand(), a.bundleCommand(), a.replayCommand(), a.simulateCommand()},
		groupCare: {a.configCommand(), a.tokensCommand(), a.extractCommand(), a.modelsCommand(), a.serveCommand(), a.keyCommand(), a.backupCommand(), a.blobCommand(), a.doctorCommand(), a.sweepCommand(), a.versionCommand()},
	} {
		for _, c := range commands {
			c.GroupID = id
		}
		cmd.AddCommand(commands...)
	}
	cmd.AddCommand(exitCodesTopic(), environmentTopic())
	addCompletion(cmd)
	return cmd
}

// isUnsettled reports whether a command works whatever the file of settings says: it helps to mend it.
func isUnsettled(cmd *cobra.Command) bool {
	first, _, _ := strings.Cut(path(cmd), " ")
	helps := []string{"help", "completion", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd}
	return !cmd.HasParent() || path(cmd) == "config path" || slices.Contains(helps, first)
}

const (
	groupTalk = "talk"
	groupMind = "mind"
	groupMove = "move"
	groupCare = "care"
)
