package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone/prompt"
)

// settingsFlags are what a prompt begins with, as the command line gives it.
type settingsFlags struct {
	system           string
	mandates, checks []string
	skills, sticky   []string // files
	tools            string
	none             bool
}

var settingsNames = []string{"system", "mandate", "skill", "check", "sticky", "tools", "no-settings"}

func (f *settingsFlags) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.system, "system", "", "`file` with the system prompt, or - for standard input")
	flags.StringArrayVar(&f.mandates, "mandate", nil, "a `rule` that the model must keep; may be given again")
	flags.StringArrayVar(&f.skills, "skill", nil, "`file` with what the model knows how to do, named by the file; may be given again")
	flags.StringArrayVar(&f.checks, "check", nil, "what the model is to make sure of before it answers, a `text`; may be given again")
	flags.StringArrayVar(&f.sticky, "sticky", nil, "`file` that stays in the prompt; may be given again")
	flags.StringVar(&f.tools, "tools", "", "`file` with what the model may call, JSON")
	flags.BoolVar(&f.none, "no-settings", false, "begin with none of these")
}

// given reports whether any of the flags is on the command line.
func (f *settingsFlags) given(cmd *cobra.Command) bool {
	for _, name := range settingsNames {
		if cmd.Flags().Changed(name) {
			return true
		}
	}
	return false
}

func (f *settingsFlags) check(cmd *cobra.Command) error {
	for _, name := range settingsNames {
		if name == "no-settings" {
			continue
		}
		if err := exclusive(cmd, "no-settings", name); err != nil {
			return err
		}
	}
	// An empty variable of a script would take away what the session's prompts begin with.
	for _, name := range []string{"system", "tools"} {
		if flag := cmd.Flag(name); flag.Changed && flag.Value.String() == "" {
			return usage("name a file, or give --no-settings to begin with none", "--%s: is empty", name)
		}
	}
	inputs := 0
	for _, file := range append(append([]string{f.system, f.tools}, f.skills...), f.sticky...) {
		if file == stdio {
			inputs++
		}
	}
	if inputs > 1 {
		return usage("name files for all but one", "prompt: standard input can be read once only")
	}
	return nil
}

// settings reads what the flags name; nil where none is given.
func (a *app) settings(cmd *cobra.Command, f settingsFlags) (*prompt.Settings, error) {
	if !f.given(cmd) {
		return nil, nil
	}
	s := &prompt.Settings{Mandates: f.mandates, Checks: f.checks}
	var err error
	if f.system != "" {
		if s.System, err = a.settingsText(cmd, "system", f.system); err != nil {
			return nil, err
		}
	}
	for _, file := range f.skills {
		text, err := a.settingsText(cmd, "skill", file)
		if err != nil {
			return nil, err
		}
		base := filepath.Base(file)
		s.Skills = append(s.Skills, prompt.Material{Name: strings.TrimSuffix(base, filepath.Ext(base)), Text: text})
	}
	for _, file := range f.sticky {
		text, err := a.settingsText(cmd, "sticky", file)
		if err != nil {
			return nil, err
		}
		s.Sticky = append(s.Sticky, prompt.Material{Name: filepath.ToSlash(file), Text: text})
	}
	if f.tools != "" {
		text, err := a.settingsText(cmd, "tools", f.tools)
		if err != nil {
			return nil, err
		}
		if s.Tools, err = a.parseTools(text); err != nil {
			return nil, fmt.Errorf("tools %s: %w", f.tools, err)
		}
	}
	return s, s.Check()
}

// settingsText reads a file, or standard input, that a flag names.
func (a *app) settingsText(cmd *cobra.Command, flag, file string) (string, error) {
	if file == stdio {
		data, err := a.readInput(cmd.Context(), prompt.MaxSystem, "")
		return string(data), err
	}
	text, err := readText(file, prompt.MaxSystem)
	if err != nil {
		return "", fmt.Errorf("--%s: %w", flag, err)
	}
	return text, nil
}

// readText reads a file of at most limit bytes.
func readText(path string, limit int64) (text string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("file: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return "", usage("name a file in it", "file %s: is a folder", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return "", fmt.Errorf("file: %w", err)
	}
	if int64(len(data)) > limit {
		return "", usage("give a smaller one", "file %s: more than %d bytes", path, limit)
	}
	return string(data), nil
}
