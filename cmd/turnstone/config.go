package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/config"
)

func (a *app) configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show your settings and where each comes from",
		Long: `Show your settings: what is not as it is by default, and where it comes from. A flag goes over an environment
variable, that over the file of settings, and that over the default. A password is not shown.

The file is config.toml in your settings folder (~/.config/turnstone on Linux), or the one that --config or
TURNSTONE_CONFIG names, which must be there. Its keys are the names of flags. Those at its beginning are for every
command that has the flag; those in a table named like a command are for that command, and go over the others:

  store = "~/talks/work.db"
  url = "http://127.0.0.1:11434"      # the model server

  [chat]
  model = "llama3.2"          # where neither --model nor the session says
  context = 16384
  # sticky = ["NOTES.md"]     # a list: files that stay in every prompt

  [serve]
  url = "https://models.example/v1"
  key-env = "MODELS_KEY"      # the variable that holds the key
  idle-after = "90m"

  [session.end]
  bundle-dir = "~/talks/bundles"

Paths are meant from the folder that the command runs in, unless they begin with / or ~/. What one run is about, such
as --session and --text, is for the command line only, and so are --yes and --force. An own [chat] with
json = false, say, goes over a json = true at the beginning. Of flags that do not go together, one on the command line
puts away those of the file. Keys do not belong in the file: name the variable that holds one.`,
		Example: `  turnstone config
  turnstone config path
  turnstone --config work.toml config --json`,
		Args: subcommandOf,
		RunE: func(cmd *cobra.Command, _ []string) error {
			entries, err := a.readConfig(cmd.Root())
			if err != nil {
				return err
			}
			return a.printConfig(a.inEffect(cmd, entries))
		},
	}
	cmd.AddCommand(a.configPathCommand())
	return cmd
}

func (a *app) configPathCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "path",
		Short:   "Print where your file of settings is, or would be",
		Example: "  turnstone config path\n  mkdir -p \"$(dirname \"$(turnstone config path)\")\"",
		Args:    arguments(),
		RunE: func(*cobra.Command, []string) error {
			path, _ := a.configFile()
			if path == "" {
				_, err := configFolder.dir(runtime.GOOS, a.getenv)
				return err
			}
			_, err := os.Stat(path)
			if err != nil {
				a.note("there is none yet; see turnstone config --help")
			}
			if a.json {
				return a.printJSON(map[string]any{"path": path, "exists": err == nil})
			}
			return a.printf("%s", path)
		},
	}
}

// settingJSON is a setting that is not as it is by default.
type settingJSON struct {
	Setting string `json:"setting"`
	Value   any    `json:"value"`
	Source  string `json:"source"` // flag, environment or file
	From    string `json:"from"`
}

// inEffect are the settings of flags, environment and file, without those that another goes over.
func (a *app) inEffect(cmd *cobra.Command, entries []config.Entry) (list []settingJSON) {
	given := map[string]bool{}
	for name := range settings {
		if flag := cmd.Flag(name); flag != nil && flag.Changed {
			given[name] = true
			list = append(list, settingJSON{name, a.settingShown(name, flag.Value.String()), "flag", "--" + name})
		} else if variable := a.variableOf(name); variable != "" {
			given[name] = true
			list = append(list, settingJSON{name, a.settingShown(name, a.system.getenv(variable)), "environment", variable})
		}
	}
	path, _ := a.configFile()
	for _, e := range entries {
		if !given[e.Name] {
			list = append(list, settingJSON{e.Label(), a.settingShown(e.Name, e.Value), "file", fmt.Sprintf("%s, line %d", path, e.Line)})
		}
	}
	slices.SortStableFunc(list, func(a, b settingJSON) int {
		return strings.Compare(dots(a.Setting), dots(b.Setting))
	})
	return list
}

// dots has what is for every command sort before what is for one.
func dots(label string) string {
	if !strings.Contains(label, ".") {
		return " " + label
	}
	return label
}

func (a *app) printConfig(list []settingJSON) error {
	if len(list) == 0 {
		a.note("everything is as it is by default; see turnstone config --help")
	}
	var rows [][]string
	for _, s := range list {
		if a.json {
			if err := a.printJSON(s); err != nil {
				return err
			}
			continue
		}
		value := fmt.Sprint(s.Value)
		if items, ok := s.Value.([]any); ok {
			value = strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%q", items), "["), "]")
		}
		rows = append(rows, []string{s.Setting, value, s.From})
	}
	return a.table([]string{"SETTING", "VALUE", "FROM"}, rows)
}

// settingShown is a value without what is secret in it. What is no name of a variable may be the key itself.
func (a *app) settingShown(name string, value any) any {
	if text, ok := value.(string); ok && name == "key-env" && !variableName.MatchString(text) {
		return blackened
	}
	return a.shown(value)
}

// shown is a value without who logs in with which password where it is the address of a server.
func (a *app) shown(value any) any {
	text, ok := value.(string)
	if !ok {
		if items, ok := value.([]any); ok {
			hidden := make([]any, len(items))
			for i := range items {
				hidden[i] = a.shown(items[i])
			}
			return hidden
		}
		return value
	}
	a.hide(text)
	servers := strings.Split(text, ",")
	for i, server := range servers {
		scheme, rest, isURL := strings.Cut(server, "://")
		if at := strings.LastIndex(rest, "@"); isURL && at >= 0 {
			servers[i] = scheme + "://" + blackened + rest[at:]
		}
	}
	return a.redact(strings.Join(servers, ","))
}
