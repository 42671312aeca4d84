package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/config"
)

// TestSettings holds the table of settings against the flags that there are: each is one, of one type, where it is said
// to be, and none of them allows what cannot be taken back.
func TestSettings(t *testing.T) {
	kinds, commands := map[string]string{}, map[string][]string{}
	eachCommand(t, func(cmd *cobra.Command) {
		for name := range settings {
			flag := cmd.Flag(name)
			if flag == nil || !isSetting(cmd, name) {
				continue
			}
			commands[name] = append(commands[name], path(cmd))
			if kind := flag.Value.Type(); kinds[name] != "" && kinds[name] != kind {
				t.Errorf("%s is a %s and a %s", name, kind, kinds[name])
			}
			kinds[name] = flag.Value.Type()
		}
	})
	for name, in := range settings {
		if kinds[name] == "" {
			t.Errorf("no command has --%s", name)
		}
		for _, command := range in {
			if !slices.Contains(commands[name], command) {
				t.Errorf("%s has no --%s", command, name)
			}
		}
	}
	for _, name := range []string{"yes", "force", "remove", "again", "new", "session", "text", "config", "dry-run"} {
		if _, found := settings[name]; found {
			t.Errorf("%s is a setting", name)
		}
	}
	for name, variable := range variables {
		if _, found := settings[name]; !found {
			t.Errorf("%s has %s, and is no setting", name, variable)
		}
		if !strings.Contains(environmentTopic().Long, variable[0]) {
			t.Errorf("%s is not in the help", variable[0])
		}
	}
}

// TestDocumentedSettings holds the files of settings in the documents and the help against what is read.
func TestDocumentedSettings(t *testing.T) {
	_, readme, _ := strings.Cut(deployFile(t, "README.md"), "```toml\n")
	readme, _, _ = strings.Cut(readme, "```")
	_, deploy, _ := strings.Cut(deployFile(t, "docs", "deploy.md"), "```\n[serve]")
	deploy, _, _ = strings.Cut(deploy, "```")
	root := (&app{}).rootCommand()
	help, _, _ := strings.Cut((&app{}).configCommand().Long, "\n\nPaths are")
	_, help, _ = strings.Cut(help, "the others:\n")
	for name, text := range map[string]string{"README.md": readme, "deploy.md": "[serve]" + deploy, "the help": help} {
		entries, err := config.Parse(text)
		for _, e := range entries {
			if _, bad := flagTexts(root, e); bad != nil {
				t.Errorf("%s: %v", name, bad)
			}
		}
		if len(entries) < 4 || err != nil {
			t.Errorf("%s has %d settings: %v", name, len(entries), err)
		}
	}
}
