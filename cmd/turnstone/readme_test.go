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
	inside := false
	for line := range strings.Lines(strings.ReplaceAll(string(readme), "go run ./cmd/turnstone", "turnstone")) {
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```sh\n"
		case inside && !strings.HasPrefix(line, "make "):
			tour = append(tour, line)
		}
	}
	if len(tour) < 25 {
		t.Fatalf("the README's tour has %d lines", len(tour))
	}
	script := "exec sh -e tour.sh\n"
	for _, shown := range []string{
		"^replayed +129 exchanges", "port 5433", "healthy: 3 sessions", "^remembered +1 item: 1 user_data$", "^    Likes window seats$", "^progress +100%$",
		"^nothing to compress: ", "^decisions +We decided to take the night train", "^persist .*#$", `^\{"schema_version":1,"export_id":"01JH5T8Q3VXK6Z0M4N7P9R2S1W"`,
	} {
		script += "stdout '" + shown + "'\n"
	}
	script += "stdout -count=1 '^\\{\"schema_version\"'\n" // of the tour alone, not those of the demo before it
	script += "-- tour.sh --\n" + strings.Join(tour, "")
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
