package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestReadmeTour runs the README's commands, as they stand there and in their order, in a shell.
func TestReadmeTour(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes, which are slow under the race detector and have nothing to race")
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var tour []string
	for line := range strings.Lines(strings.ReplaceAll(string(readme), "go run ./cmd/turnstone", "turnstone")) {
		if strings.HasPrefix(line, "turnstone ") {
			tour = append(tour, line)
		}
	}
	if len(tour) < 10 {
		t.Fatalf("the README's tour has %d commands", len(tour))
	}
	script := "exec sh -e tour.sh\nstdout 'port 5433'\nstdout 'healthy: 2 sessions'\n-- tour.sh --\n" + strings.Join(tour, "")
	file := filepath.Join(t.TempDir(), "readme.txtar")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Files:               []string{file},
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("XDG_DATA_HOME", filepath.Join(env.WorkDir, "data"))
			return nil
		},
	})
}
