package main

import (
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// exampleFiles are what the examples of the help name and do not make: files, and other people's programs.
var exampleFiles = map[string]string{
	"letter.txt": "Dear all\n", "cat.png": "\x89PNG\r\n\x1a\ncat", "system.txt": "Be brief.\n", "main.go": "package main\n",
	"talk.jsonl":        `{"role":"user","content":"Hello, which port?"}` + "\n" + `{"role":"assistant","content":"Port 5433."}` + "\n",
	"chat.json":         `{"messages":[{"role":"user","content":"Hello"},{"role":"assistant","content":"Hi"}]}`,
	"work.toml":         "quiet = true\n",
	"my-models.toml":    "[[models]]\nname = \"my-model\"\ncontext = 8192\n",
	"exchange.json":     `{"turns":[{"role":"user","text":"Which seats?"},{"role":"agent","text":"Window seats."}]}`,
	"trajectories.json": `[{"traj":[{"role":"user","content":"1"}]},{"traj":[{"role":"user","content":"2"}]},{"traj":[{"role":"user","content":"3"}]}]`,
	"bin/my-agent":      "#!/bin/sh\ncat exchange.json\n",
	"bin/other-program": "#!/bin/sh\ncat chat.json\n",
	"bin/curl":          "#!/bin/sh\ncat > /dev/null\n",
	"bin/git":           "#!/bin/sh\necho '+ a line'\n",
	"bin/file":          "#!/bin/sh\ncat > /dev/null\n",
}

// elsewhere are the examples that need a server of somebody else's, or serve until they are ended: other tests run them.
var elsewhere = regexp.MustCompile(`postgres://|^turnstone serve|^turnstone daemon tail(\n|$| --name)`)

// exampleBefore is what somebody did who runs the examples of a command: the first of the commands whose name begins so. The last word
// that it prints at the beginning of a line is what an id in the examples stands for.
var exampleBefore = []struct{ command, did string }{
	{"action approve", approval}, {"action reject", approval},
	{"action", `turnstone action add "Pay the invoice" --type agent_task --session tidewatch`},
	{"blob", `turnstone append --session tidewatch --role user --file cat.png --alt cat --json | sed 's/.*"sha256":"\([^"]*\)".*/\1/'; rm cat.png`},
	{"bundle import", bundled}, {"bundle verify", bundled}, {"replay", bundled},
	{"export", `turnstone commit tidewatch exchange.json --json | sed 's/.*"export_id":"\([^"]*\)".*/\1/'`},
	{"trace", `turnstone commit tidewatch exchange.json --json | sed 's/.*"export_id":"\([^"]*\)".*/\1/'`},
	{"flow push", stacked}, {"flow invalidate", stacked}, {"scratch add", stacked}, {"scratch list", stacked},
	{"scratch", `turnstone scratch add "A note" --session tidewatch`},
	{"key", `turnstone key create "web site"; turnstone key create old; turnstone key list --json | grep '"name":"old"' | sed 's/^{"id":"\([^"]*\)".*/\1/'`},
	{"memory", `turnstone memory list --limit 1 --json | sed 's/^{"id":"\([^"]*\)".*/\1/'`},
	{"snapshot", `turnstone snapshot take tidewatch --json | sed 's/^{"id":"\([^"]*\)".*/\1/'`},
	{"forget", `turnstone session create hers --user alice`},
}

const (
	approval = `turnstone action add "May I?" --type approval_request --session tidewatch`
	bundled  = `turnstone bundle export --session tidewatch --quiet`
	stacked  = `turnstone flow push travel --session tidewatch --json | sed 's/.*"flow_id":"\([^"]*\)".*/\1/'`
)

// TestExamplesWork runs every example of the help as it stands there, on a store of its own that has the demo and nothing else.
func TestExamplesWork(t *testing.T) {
	if testing.Short() {
		t.Skip("starts hundreds of processes, which are slow under the race detector and have nothing to race")
	}
	dir := t.TempDir()
	demo := filepath.Join(dir, "demo.db")
	mustRun(t, demo, "demo")
	made, err := os.ReadFile(demo)
	if err != nil {
		t.Fatal(err)
	}
	eachCommand(t, func(cmd *cobra.Command) {
		name := strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), "turnstone"), " ")
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			talk := &talker{replies: slices.Repeat([]string{"Good day."}, 9)}
			server := httptest.NewServer(talk.handler())
			t.Cleanup(server.Close)
			work := t.TempDir()
			for file, text := range exampleFiles {
				path := filepath.Join(work, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			store := filepath.Join(work, "store.db")
			if err := os.WriteFile(store, made, 0o600); err != nil {
				t.Fatal(err)
			}
			run := func(script string) string {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				sh := exec.CommandContext(ctx, "sh", "-e", "-c", script)
				sh.Dir = work
				if strings.HasPrefix(script, "turnstone chat") {
					sh.Stdin = strings.NewReader("Hello\n")
				}
				sh.Env = append(os.Environ(), "TURNSTONE_STORE="+store, "TURNSTONE_URL="+server.URL, "HOME="+work, "XDG_CONFIG_HOME=", "XDG_DATA_HOME=",
					"XDG_CACHE_HOME=", "PATH="+filepath.Join(work, "bin")+":"+os.Getenv("PATH"))
				out, err := sh.CombinedOutput()
				if err != nil {
					t.Errorf("%v\n%s\n%s", err, script, out)
				}
				return strings.TrimSpace(string(out))
			}
			example := cmd.Example
			for _, b := range exampleBefore {
				if strings.HasPrefix(name, b.command) {
					did := run(b.did)
					did = did[strings.LastIndex(did, "\n")+1:]
					id, _, _ := strings.Cut(did, " ")
					example = exampleID.ReplaceAllLiteralString(example, id)
					break
				}
			}
			for _, there := range []string{"http://127.0.0.1:8080", "http://127.0.0.1:11434"} {
				example = strings.ReplaceAll(example, there, server.URL)
			}
			// A line that is indented further goes on from the one before.
			for _, script := range strings.Split(strings.ReplaceAll("\n"+example, "|\n    ", "| "), "\n  ") {
				script = strings.TrimSpace(script)
				if asks := strings.HasPrefix(script, "turnstone forget") && !strings.Contains(script, "--dry-run"); asks {
					script += " --yes" // there is no terminal to be asked on
				}
				if script != "" && !elsewhere.MatchString(script) {
					run(script)
				}
			}
		})
	})
}

var exampleID = regexp.MustCompile(`01JH5T8Q3VXK6Z0M4N7P9R2S1W|01JH\.\.\.|\bSHA256\b`)
