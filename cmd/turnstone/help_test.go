package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestEveryCommandIsExplained(t *testing.T) {
	root := (&app{}).rootCommand()
	seen := 0
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			visit(c)
		}
		if cmd.IsAdditionalHelpTopicCommand() || strings.Contains(cmd.CommandPath(), "completion") {
			return
		}
		seen++
		if cmd.Short == "" || !strings.Contains(cmd.Example, root.Name()+" ") {
			t.Errorf("%s: needs a line that explains it and an example", cmd.CommandPath())
		}
		text := cmd.Long + cmd.Example + cmd.Short + cmd.Flags().FlagUsages()
		for _, r := range text {
			if r > '~' {
				t.Errorf("%s: %q is not for every terminal", cmd.CommandPath(), r)
			}
		}
	}
	visit(root)
	if seen < 30 {
		t.Errorf("only %d commands were looked at", seen)
	}
}
