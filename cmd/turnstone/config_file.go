package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/config"
	"github.com/turnstone-dev/turnstone/internal/invalid"
)

const (
	envConfig = "TURNSTONE_CONFIG"
	// maxConfigFile bounds the file of settings, which people write by hand.
	maxConfigFile = 1 << 20
	// fromFile marks a flag that the file of settings gave, with the line where it stands.
	fromFile = "turnstone_config"
)

// configFile is the user's file of settings: what --config or the environment name, or config.toml in the folder for
// settings. Given says that it must be there; the path is empty where there is no such folder.
func (a *app) configFile() (path string, given bool) {
	if named := a.configFlag; named != "" {
		return named, true
	}
	if named := a.getenv(envConfig); named != "" {
		return named, true
	}
	dir, err := configFolder.dir(runtime.GOOS, a.getenv)
	if err != nil {
		return "", false // nobody can have put a file there
	}
	return filepath.Join(dir, "config.toml"), false
}

// readConfig reads the file of settings, and holds all of it against the flags that there are. Where there is no file it
// returns none.
func (a *app) readConfig(root *cobra.Command) ([]config.Entry, error) {
	path, given := a.configFile()
	if path == "" {
		return nil, nil
	}
	text, err := readText(path, maxConfigFile)
	if errors.Is(err, fs.ErrNotExist) && !given {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	entries, err := config.Parse(text)
	for i := 0; i < len(entries) && err == nil; i++ {
		if now, ok := renamed[entries[i].Name]; ok {
			entries[i].Command, entries[i].Name = cmp.Or(entries[i].Command, now.Command), now.Name
		}
		a.hide(entries[i].Value)
		_, err = flagTexts(root, entries[i])
	}
	var bad *config.Error
	if errors.As(err, &bad) {
		return nil, usage(bad.Fix, "%s, line %d: %s", path, bad.Line, bad.Problem)
	}
	return entries, err
}

// flagTexts is the value of an entry as the flag takes it that it is for. Errors are *[config.Error].
func flagTexts(root *cobra.Command, e config.Entry) ([]string, error) {
	cmd := root
	for word := range strings.FieldsSeq(e.Command) {
		i := slices.IndexFunc(cmd.Commands(), func(c *cobra.Command) bool { return c.Name() == word })
		if i < 0 {
			return nil, e.Refused("see turnstone help", "%q is no command of %s", word, cmd.CommandPath())
		}
		cmd = cmd.Commands()[i]
	}
	if e.Command != "" && cmd.Annotations[groupMark] != "" {
		return nil, e.Refused("give it in the table of one of its commands", "%s is a group of commands", cmd.CommandPath())
	}
	var has, takes *cobra.Command // the flag, and it from a file
	eachBelow(cmd, func(c *cobra.Command) bool {
		if (e.Command == "" || c == cmd) && c.Flag(e.Name) != nil {
			has = c
			if isSetting(c, e.Name) {
				takes = c
			}
		}
		return takes == nil
	})
	switch {
	case takes != nil:
		return e.Texts(takes.Flag(e.Name).Value.Type())
	case has != nil:
		return nil, e.Refused("give it on the command line", "is for one run")
	case e.Command != "":
		return nil, e.Refused("see "+cmd.CommandPath()+" --help", "%s has no --%s", cmd.CommandPath(), e.Name)
	}
	return nil, e.Refused("see turnstone config --help", "no command has --%s", e.Name)
}

// configure has the file of settings say what neither the command line nor the environment says. What the file gives does not
// count as given on the command line; see [exclusive].
func (a *app) configure(cmd *cobra.Command) error {
	entries, err := a.readConfig(cmd.Root())
	if err != nil {
		return err
	}
	file, _ := a.configFile()
	a.filed, a.origins = map[string]string{}, map[string]string{}
	for _, table := range []string{"", path(cmd)} {
		for _, e := range entries {
			if e.Command == table && (table != "" || isSetting(cmd, e.Name)) {
				if err := a.give(cmd, e, fmt.Sprintf("%s, line %d", file, e.Line)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// give sets a flag as the file has it. One that has an environment variable is given through that: what goes over the variable,
// such as the model of a session, goes over the file as well.
func (a *app) give(cmd *cobra.Command, e config.Entry, where string) error {
	flag := cmd.Flag(e.Name)
	if flag == nil || flag.Changed || a.variableOf(e.Name) != "" {
		return nil
	}
	texts, err := e.Texts(flag.Value.Type())
	if err != nil {
		return err
	}
	a.origins["--"+e.Name] = where
	if names := variables[e.Name]; names != nil && flag.Value.Type() == "string" {
		a.filed[names[0]] = a.athome(texts[0])
		return nil
	}
	if flag.Annotations == nil {
		flag.Annotations = map[string][]string{}
	}
	flag.Annotations[fromFile] = []string{where}
	if many, ok := flag.Value.(interface{ Replace([]string) error }); ok {
		return many.Replace(texts)
	}
	return flag.Value.Set(a.athome(texts[0]))
}

// variableOf is the environment variable that gives a setting now, empty where none does.
func (a *app) variableOf(name string) string {
	for _, variable := range variables[name] {
		if a.system.getenv(variable) != "" {
			return variable
		}
	}
	return ""
}

// getenv is an environment variable, or what the file of settings has in its place.
func (a *app) getenv(name string) string {
	if value := a.system.getenv(name); value != "" {
		return value
	}
	return a.filed[name]
}

// athome is a path below the home folder as a shell makes it of ~/.
func (a *app) athome(text string) string {
	home := a.system.getenv("HOME")
	if below, ok := strings.CutPrefix(text, "~/"); ok && home != "" {
		return filepath.Join(home, below)
	}
	return text
}

// hide keeps passwords in values of the file from whatever is printed.
func (a *app) hide(value any) {
	switch v := value.(type) {
	case string:
		for server := range strings.SplitSeq(v, ",") {
			if strings.Contains(server, "://") {
				a.protect(server)
			}
		}
	case []any:
		for _, item := range v {
			a.hide(item)
		}
	}
}

// blame says of an error about a flag that the file of settings gave where it stands there.
func (a *app) blame(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	// The field may stand behind what was to be done with it.
	if field := (*invalid.Field)(nil); errors.As(err, &field) && strings.HasSuffix(text, ": "+field.Error()) {
		text = field.Error()
	}
	name, rest, found := strings.Cut(text, ": ")
	name = strings.TrimPrefix(name, "--")
	for setting, names := range variables {
		if name == names[0] {
			name = setting
		}
	}
	where, ok := a.origins["--"+name]
	if !found || !ok {
		return err
	}
	return &reworded{err: err, text: where + ": " + name + ": " + rest}
}

// source names what gives a setting now: the flag, its variable or a line of the file.
func (a *app) source(name string, flag bool) string {
	switch where := a.origins["--"+name]; {
	case flag:
		return "--" + name
	case where != "":
		return where
	}
	return variables[name][0]
}
