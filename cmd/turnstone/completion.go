package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/turn"
)

// addCompletion adds Cobra's completion command, for bash, zsh, fish and PowerShell.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() != "completion" {
			continue
		}
		group(cmd)
		cmd.Example = "  source <(turnstone completion bash)\n  turnstone completion fish > ~/.config/fish/completions/turnstone.fish"
		for _, shell := range cmd.Commands() {
			shell.Args = arguments()
		}
	}
}

// completeSessions offers session ids to the shell.
func (a *app) completeSessions(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if err := a.configure(cmd); err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	if p, err := a.storePlace(); err != nil || p.path != "" && !isFile(p.path) {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var ids []cobra.Completion
	err := a.withEngine(cmd.Context(), toUse, turnstone.Config{}, func(eng *turnstone.Engine) error {
		list, err := eng.Sessions(cmd.Context(), turn.SessionFilter{})
		for _, s := range list {
			ids = append(ids, cobra.CompletionWithDesc(s.Session, s.Title))
		}
		return err
	})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// completeFirstSession is completeSessions for a command whose other arguments are no sessions.
func (a *app) completeFirstSession(cmd *cobra.Command, args []string, given string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.completeSessions(cmd, args, given)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// addSessionFlag adds the flag that names a session, with completion.
func (a *app) addSessionFlag(cmd *cobra.Command, session *string) {
	cmd.Flags().StringVarP(session, "session", "s", "", "the session's `id`")
	completing(cmd, "session", a.completeSessions)
}
