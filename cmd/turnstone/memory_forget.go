package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/memory"
)

func (a *app) memoryForgetCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "forget ID...",
		Short: "Delete items for good",
		Long: `Delete items for good, and print how many there were. What was said stays in the log. On a
terminal it asks first, unless --yes is given.`,
		Example:           "  turnstone memory forget 01JH5T8Q3VXK6Z0M4N7P9R2S1W --yes",
		Args:              arguments("ID..."),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.forget(cmd.Context(), args, yes)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func (a *app) forget(ctx context.Context, ids []string, yes bool) error {
	ids = slices.Compact(slices.Sorted(slices.Values(ids))) // one that is given twice is one
	return a.withEngine(ctx, toFind, turnstone.Config{}, func(eng *turnstone.Engine) error {
		if !yes && terminal.Is(a.stdin) {
			sure, err := a.ask(ctx, fmt.Sprintf("Forget %s for good?", progress.Count(int64(len(ids)), "item")))
			if err != nil {
				return err
			}
			if !sure {
				a.note("nothing was forgotten")
				return nil
			}
		}
		forgotten, err := eng.ForgetItems(ctx, ids...)
		if err != nil {
			return err
		}
		if forgotten == 0 {
			return advise(fmt.Errorf("memory %s: %w", strings.Join(ids, ", "), memory.ErrNotFound), memory.ErrNotFound,
				"see which there are with: "+a.line("memory list"))
		}
		a.stored = progress.Count(int64(forgotten), "item") + " forgotten"
		if missing := len(ids) - forgotten; missing > 0 {
			a.note("%s not there", were(missing, "item"))
		}
		a.note("what was said stays in the log")
		if a.json {
			return a.printJSON(map[string]int{"forgotten": forgotten})
		}
		return a.printf("forgot %s", progress.Count(int64(forgotten), "item"))
	})
}

func were(n int, thing string) string {
	if n == 1 {
		return "1 " + thing + " was"
	}
	return progress.Count(int64(n), thing) + " were"
}

// ask puts a question to the person at the terminal. Anything but yes is no.
func (a *app) ask(ctx context.Context, question string) (bool, error) {
	if _, err := io.WriteString(a.stderr, question+" [y/N] "); err != nil {
		return false, fmt.Errorf("question: %w", err)
	}
	for line, err := range a.lines(ctx, 1<<10) {
		if err != nil {
			return false, err
		}
		answer := strings.ToLower(strings.TrimSpace(string(line)))
		return answer == "y" || answer == "yes", nil
	}
	return false, nil
}
