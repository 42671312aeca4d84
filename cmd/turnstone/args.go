package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// telling are the arguments that name something that is there, or say what is to be. An empty one, as of a variable that a script did
// not set, tells nothing.
var telling = []string{"ID", "GOAL", "ACTION", "NOTE", "TITLE", "CONTENT"}

// arguments accepts the named arguments. Names in brackets may be left out; a last name that ends
// in "..." may be given more than once.
func arguments(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		next := "see " + cmd.CommandPath() + " --help"
		for i, name := range names {
			if i >= len(args) && !strings.HasPrefix(name, "[") {
				return usage(next, "%s: %s is missing", path(cmd), strings.TrimSuffix(name, "..."))
			}
		}
		many := len(names) > 0 && strings.HasSuffix(names[len(names)-1], "...")
		if len(args) > len(names) && !many {
			return usage(next, "%s: %q is one argument too many", path(cmd), args[len(names)])
		}
		for i, arg := range args {
			name := strings.Trim(names[min(i, len(names)-1)], "[].")
			if slices.Contains(telling, name) && strings.TrimSpace(arg) == "" {
				return usage(next, "%s: %s is empty", path(cmd), name)
			}
		}
		return nil
	}
}

// groupMark marks a command that only has subcommands.
const groupMark = "turnstone_group"

// group makes a command that only has subcommands.
func group(cmd *cobra.Command, subcommands ...*cobra.Command) *cobra.Command {
	cmd.Args = subcommandOf
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(subcommands...)
	cmd.Annotations = map[string]string{groupMark: "yes"}
	return cmd
}

// meant are the words that people try for what has another name here.
var meant = map[string]string{
	"why": "prompt --explain", "explain": "prompt --explain", "context": "prompt --explain", "account": "prompt --explain",
	"ask": "chat", "say": "chat", "talk": "chat", "run": "chat", "new": "chat --new",
	"list": "session list", "ls": "session list", "sessions": "session list", "fork": "session fork", "end": "session end",
	"search": "recall", "find": "recall", "grep": "query", "log": "history", "show": "history",
	"delete": "forget", "remove": "forget", "rm": "forget", "restore": "snapshot restore", "check": "doctor", "server": "serve", "start": "serve",
}

// subcommandOf refuses a word that is none of a command's subcommands.
func subcommandOf(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	next := "see " + cmd.CommandPath() + " --help"
	cmd.SuggestionsMinimumDistance = 2
	if command, ok := meant[args[0]]; ok && !cmd.HasParent() {
		next = "did you mean " + cmd.CommandPath() + " " + command + "?"
	} else if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
		next = "did you mean " + cmd.CommandPath() + " " + strings.Join(like, " or ") + "?"
	} else if found, _, err := cmd.Root().Find(args[:1]); err == nil && found.Name() == args[0] {
		next = "did you mean " + found.CommandPath() + "?"
	}
	return usage(next, "%q is no command of %s", args[0], cmd.CommandPath())
}

// path names a command in an error, which begins with the program's name already.
func path(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
}

// required refuses a command line without these flags.
func required(cmd *cobra.Command, flags ...string) error {
	for _, name := range flags {
		flag := cmd.Flag(name)
		if value := flag.Value.String(); value == "" || value == "0" && !flag.Changed {
			return usage("see "+cmd.CommandPath()+" --help", "%s: --%s is missing", path(cmd), name)
		}
	}
	return nil
}

// invalidFlag finds the flag in the error about its value.
var invalidFlag = regexp.MustCompile(`for "(?:-\w, )?--([\w-]+)" flag: `)

// unknownFlag finds the name in the error about a flag that there is not.
var unknownFlag = regexp.MustCompile(`^unknown flag: --(\w[\w-]+)$`)

// flagError says what is wrong with a flag in words of its own.
func flagError(cmd *cobra.Command, err error) error {
	next := "see " + cmd.CommandPath() + " --help"
	var bad interface {
		error
		GetValue() string
	}
	// A command that is misspelt has no flags, so that its first one would be blamed for it.
	if given := cmd.Flags().Args(); cmd.HasSubCommands() && len(given) > 0 {
		return subcommandOf(cmd, given)
	}
	if unknown := unknownFlag.FindStringSubmatch(err.Error()); unknown != nil {
		if like := flagsLike(cmd, unknown[1]); len(like) > 0 {
			next = "did you mean " + strings.Join(like, " or ") + "?"
		}
	}
	if !cmd.HasParent() {
		return usage(next, "%v", err)
	}
	name := invalidFlag.FindStringSubmatch(err.Error())
	if name == nil || !errors.As(err, &bad) {
		return usage(next, "%s: %v", path(cmd), err)
	}
	flag := cmd.Flag(name[1])
	wanted := map[string]string{"int": "number", "int64": "number", "float64": "number", "duration": "time such as 90m", "bool": "true or false"}[flag.Value.Type()]
	switch {
	case wanted == "":
		return usage(next, "%s: %v", path(cmd), err)
	case strings.Contains(flag.Usage, "`turn`"):
		wanted = "turn number"
	}
	return usage(next, "--%s: %q is no %s", flag.Name, bad.GetValue(), wanted)
}

// flagUsage finds the flags in what the help says of them, which leaves out those that are hidden.
var flagUsage = regexp.MustCompile(`(?m)^ +(?:-\w, )?--([\w-]+)`)

// flagsLike are the flags of a command that a name may be meant for. What is like a word is what Cobra takes for it in commands.
func flagsLike(cmd *cobra.Command, name string) (like []string) {
	names := &cobra.Command{SuggestionsMinimumDistance: 2}
	for _, flag := range flagUsage.FindAllStringSubmatch(cmd.Flags().FlagUsages(), -1) {
		names.AddCommand(&cobra.Command{Use: flag[1], Run: func(*cobra.Command, []string) {}})
	}
	for _, flag := range names.SuggestionsFor(name) {
		if flag[0] == name[0] { // people do not slip at once
			like = append(like, "--"+flag)
		}
	}
	return like
}

// exclusive refuses a command line with more than one of these flags, and a file of settings too. One on the command line puts
// away what the file says in the others.
func exclusive(cmd *cobra.Command, flags ...string) error {
	given := slices.DeleteFunc(slices.Clone(flags), func(name string) bool { return !cmd.Flags().Changed(name) })
	if len(given) > 1 {
		return usage("leave one out", "%s: --%s and --%s do not go together", path(cmd), given[0], given[1])
	}
	filed := slices.DeleteFunc(slices.Clone(flags), func(name string) bool { return !filedFlag(cmd, name) })
	if len(given) == 0 && len(filed) > 1 {
		where := cmd.Flag(filed[1]).Annotations[fromFile][0]
		return usage("leave one out", "%s: %s and %s do not go together", where, filed[0], filed[1])
	}
	if len(given) == 0 || cmd.Flag(given[0]).Value.String() == "false" {
		return nil
	}
	for _, name := range filed {
		flag := cmd.Flag(name)
		if err := flag.Value.Set(flag.DefValue); err != nil {
			return fmt.Errorf("--%s: %w", name, err)
		}
	}
	return nil
}

// filedFlag reports whether the file of settings gives the flag, and more than a false.
func filedFlag(cmd *cobra.Command, name string) bool {
	flag := cmd.Flag(name)
	return len(flag.Annotations[fromFile]) > 0 && flag.Value.String() != "false"
}

// choices offers values to the shell's completion of a flag.
func choices(cmd *cobra.Command, flag string, values ...string) {
	completing(cmd, flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

func completing(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // only for a flag that the command does not have
	}
}
