package main

import (
	"strings"
	"testing"
)

// TestMeantIsThere holds the words that people try to commands and flags that there are.
func TestMeantIsThere(t *testing.T) {
	root := new(app).rootCommand()
	for word, command := range meant {
		if found, _, err := root.Find([]string{word}); err == nil && found != root {
			t.Errorf("%s is a command of its own", word)
		}
		path, flag, _ := strings.Cut(command, " --")
		found, rest, err := root.Find(strings.Fields(path))
		if err != nil || len(rest) > 0 || found == root {
			t.Errorf("%s: there is no command %s", word, path)
		} else if flag != "" && found.Flag(flag) == nil {
			t.Errorf("%s: %s has no flag --%s", word, path, flag)
		}
	}
}
