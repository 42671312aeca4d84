package main

import (
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) memorySearchCommand() *cobra.Command {
	var o memoryOptions
	cmd := &cobra.Command{
		Use:   "search WORD...",
		Short: "Find items whose text holds all these words",
		Long: `Find items whose text holds all these words, in any order, case and ending. Everything else that
is asked for must hold too.

Where there are more than --limit, standard error says how to go on; with --json as {"next":"CURSOR"}.`,
		Example: `  turnstone memory search window seats
  turnstone memory search port --session tidewatch --by importance --json`,
		Args:              arguments("WORD..."),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.search.Text = strings.Join(args, " ")
			if strings.TrimSpace(o.search.Text) == "" {
				return usage("to see everything use turnstone memory list", "memory search: WORD is empty")
			}
			if err := o.check(cmd); err != nil {
				return err
			}
			return a.recall(cmd.Context(), o)
		},
	}
	a.addMemoryFlags(cmd, &o)
	return cmd
}

func (a *app) memoryListCommand() *cobra.Command {
	var o memoryOptions
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List items, newest first",
		Long: `List items, newest first. Where there are more than --limit, standard error says how to go on;
with --json as {"next":"CURSOR"}.`,
		Example: `  turnstone memory list --session tidewatch
  turnstone memory list --type user_data --user alice --limit 0 --json`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			return a.recall(cmd.Context(), o)
		},
	}
	a.addMemoryFlags(cmd, &o)
	return cmd
}
