package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// homeVariables name every folder of a user that files are kept in.
var homeVariables = []string{"HOME", "USERPROFILE", "AppData", "LocalAppData", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"}

// guarded runs the tests with an empty folder in the place of the user's own, and fails them if anything is written to it: a
// test gives every process that it starts folders of its own ([ownHome]).
type guarded struct{ *testing.M }

func (g guarded) Run() int {
	home, err := os.MkdirTemp("", "turnstone-home-")
	if err == nil {
		defer func() {
			if err := os.RemoveAll(home); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		}()
	}
	for _, name := range homeVariables {
		if err == nil {
			err = os.Setenv(name, home)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := g.M.Run()
	err = filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			fmt.Fprintf(os.Stderr, "a test wrote %s into its user's folders: give the process folders of its own\n", path[len(home)+1:])
			code = max(code, 1)
		}
		return err
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// ownHome is the environment of a process that a test starts, with folders of its own and what else is given.
func ownHome(t testing.TB, more ...string) []string {
	t.Helper()
	env, home := os.Environ(), t.TempDir()
	for _, name := range homeVariables {
		env = append(env, name+"="+home)
	}
	return append(env, more...)
}
