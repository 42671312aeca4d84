package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone/commit"
)

// eachCommand visits the commands that are ours, groups first.
func eachCommand(t *testing.T, f func(*cobra.Command)) {
	root := (&app{}).rootCommand()
	seen := 0
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		if cmd.IsAdditionalHelpTopicCommand() || strings.Contains(cmd.CommandPath(), "completion") {
			return
		}
		seen++
		f(cmd)
		for _, c := range cmd.Commands() {
			visit(c)
		}
	}
	visit(root)
	if seen < 30 {
		t.Errorf("only %d commands were looked at", seen)
	}
}

func TestEveryCommandIsExplained(t *testing.T) {
	eachCommand(t, func(cmd *cobra.Command) {
		if cmd.Short == "" || !strings.Contains(cmd.Example, "turnstone ") {
			t.Errorf("%s: needs a line that explains it and an example", cmd.CommandPath())
		}
		text := cmd.Long + cmd.Example + cmd.Short + cmd.Flags().FlagUsages()
		for _, r := range text {
			if r > '~' {
				t.Errorf("%s: %q is not for every terminal", cmd.CommandPath(), r)
			}
		}
	})
}

// TestArgumentsAreAsTheUsageSays holds what a command accepts against its line of usage.
func TestArgumentsAreAsTheUsageSays(t *testing.T) {
	eachCommand(t, func(cmd *cobra.Command) {
		if cmd.HasSubCommands() || cmd.Name() == "help" {
			return
		}
		names := strings.Fields(cmd.Use)[1:]
		least, many := 0, false
		for _, name := range names {
			if !strings.HasPrefix(name, "[") {
				least++
			}
			many = many || strings.HasSuffix(name, "...")
		}
		for n := range len(names) + 2 {
			legal := n >= least && (n <= len(names) || many)
			if err := cmd.Args(cmd, slices.Repeat([]string{"x"}, n)); (err == nil) != legal {
				t.Errorf("%s with %d arguments: %v", cmd.CommandPath(), n, err)
			}
		}
	})
}

// TestCommitHelpHasAnExchange holds the example of an exchange to what is read, and the help to every
// field there is.
func TestCommitHelpHasAnExchange(t *testing.T) {
	help := (&app{}).commitCommand().Long
	_, rest, _ := strings.Cut(help, "\n  {\n")
	example, _, found := strings.Cut(rest, "\n  }\n")
	ex, err := commit.DecodeExchange("{" + example + "}")
	if err != nil || !found || len(ex.Turns) != 2 || len(ex.Candidates) != 1 || len(ex.Intentions.Actions) != 1 || len(ex.Scratch.Put) != 1 {
		t.Errorf("the example is %+v, %v", ex, err)
	}
	_, err = commit.DecodeExchange(`{"none":1}`)
	_, fields, found := strings.Cut(err.Error(), "legal here: ")
	if !found {
		t.Fatal(err)
	}
	for field := range strings.SplitSeq(fields, ", ") {
		if !strings.Contains(help, field) {
			t.Errorf("%s is not in the help", field)
		}
	}
}
