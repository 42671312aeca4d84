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

// TestPastedSettings runs with the settings of the README and of the help, as they stand there, for somebody who has
// nothing yet.
func TestPastedSettings(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes, which are slow under the race detector and have nothing to race")
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, settings, _ := strings.Cut(string(readme), "```toml\n")
	settings, _, _ = strings.Cut(settings, "```")
	var help []string
	for line := range strings.Lines((&app{}).configCommand().Long) {
		if indented, ok := strings.CutPrefix(line, "  "); ok {
			help = append(help, indented)
		}
	}
	for name, pasted := range map[string]string{"readme": settings, "help": strings.Join(help, "")} {
		if !strings.Contains(pasted, "[session.end]") {
			t.Fatalf("%s: the settings are %q", name, pasted)
		}
		script := `talker replies.txt
exec turnstone config
stdout '^store +~/talks/work.db +.*config.toml, line 1$'
exec turnstone session create hello
exists home/talks/work.db
stdin said.txt
exec turnstone chat --lines --session hello
stdout '^Good day\.$'
stderr '^talking with llama3.2 in session hello$'
exec turnstone session end hello
stdout '^ended hello, bundle: .*home/talks/bundles/default/hello.bundle$'
exec turnstone status --session hello
stdout '13,926'
-- said.txt --
Hello
-- replies.txt --
Good day.
-- home/.config/turnstone/config.toml --
` + pasted
		file := filepath.Join(t.TempDir(), name+".txtar")
		if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
		testscript.Run(t, testscript.Params{
			Files:               []string{file},
			RequireExplicitExec: true,
			Setup: func(env *testscript.Env) error {
				for name, value := range map[string]string{
					"HOME": filepath.Join(env.WorkDir, "home"), "XDG_CONFIG_HOME": "", "XDG_DATA_HOME": "", "XDG_CACHE_HOME": "",
				} {
					env.Setenv(name, value)
				}
				return nil
			},
			Cmds: map[string]func(*testscript.TestScript, bool, []string){"talker": startTalker},
		})
	}
}
