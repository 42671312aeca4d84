package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/turn"
)

// program returns a command of the packages that scripts/deps installs. Their node is among them, since they need a newer
// one than many systems have.
func program(ctx context.Context, t *testing.T, name string, arguments ...string) *exec.Cmd {
	t.Helper()
	bin, err := filepath.Abs(filepath.Join("testdata", "npm", "node_modules", ".bin"))
	if err != nil {
		t.Fatal(err)
	}
	node := filepath.Join(bin, "node")
	if _, err := os.Stat(node); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("%v; run make deps", err)
		}
		t.Skipf("%v; run make deps", err)
	}
	cmd := exec.CommandContext(ctx, node, append([]string{filepath.Join(bin, name)}, arguments...)...)
	cmd.Env = append(os.Environ(), "NO_COLOR=1", "FORCE_COLOR=0")
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// TestConformance runs those scenarios of the protocol's own suite that a server passes by what it is. The others call
// tools and read resources of a made-up server by their names.
func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("starts node for every scenario")
	}
	w := newWorld(t, nil)
	w.say("a", turn.User, "hello")
	for _, scenario := range []string{
		"server-initialize", "ping", "completion-complete", "tools-list", "resources-list", "dns-rebinding-protection",
	} {
		t.Run(scenario, func(t *testing.T) {
			cmd := program(t.Context(), t, "conformance", "server", "--url", w.url, "--scenario", scenario, "--verbose")
			cmd.Dir = t.TempDir()
			out, err := cmd.CombinedOutput()
			if err != nil || !bytes.Contains(out, []byte("SUCCESS")) || bytes.Contains(out, []byte("FAILURE")) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestInspector has the inspector's command line list what there is and call every tool.
func TestInspector(t *testing.T) {
	if testing.Short() {
		t.Skip("starts node for every call")
	}
	w := newWorld(t, nil)
	w.compressed("a")
	inspect := func(arguments ...string) object {
		t.Helper()
		cmd := program(t.Context(), t, "mcp-inspector", append([]string{"--cli", w.url, "--transport", "http", "--method"}, arguments...)...)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v\n%s", arguments, err, &stderr)
		}
		var answer object
		if err := json.Unmarshal(out, &answer); err != nil {
			t.Fatalf("%v: %v\n%s", arguments, err, out)
		}
		return answer
	}
	calls := map[string][]string{
		"remember":       {"session=a", "text=Alice likes window seats."},
		"recall":         {"session=a", "query=Which seat does Alice want?", "limit=3"},
		"search_history": {"session=a", "text=harbour", "limit=2"},
		"set_goal":       {"session=a", "title=Ship it", "priority=high", `next_steps=["write tests"]`},
		"goals":          {"session=a", "all=true"},
		"prompt":         {"session=a", "context=8192", "preview=true"},
		"snapshot":       {"session=a", "name=calm"},
		"undo":           {"session=a", "context=128000"},
		"list_sessions":  {"limit=5"},
	}
	tools := inspect("tools/list")["tools"].([]any)
	if len(tools) != len(calls) {
		t.Errorf("%d tools, %d calls", len(tools), len(calls))
	}
	for _, tool := range tools {
		name := at(t, tool, "name").(string)
		t.Run(name, func(t *testing.T) {
			arguments := []string{"tools/call", "--tool-name", name}
			for _, a := range calls[name] {
				arguments = append(arguments, "--tool-arg", a)
			}
			if answer := inspect(arguments...); answer["isError"] == true || answer["structuredContent"] == nil {
				t.Errorf("%v", answer)
			}
		})
	}
	if list := inspect("resources/list")["resources"].([]any); len(list) != 2 {
		t.Errorf("resources: %v", list)
	}
	if list := inspect("resources/templates/list")["resourceTemplates"].([]any); len(list) != 5 {
		t.Errorf("templates: %v", list)
	}
	if read := inspect("resources/read", "--uri", "turnstone://sessions/a"); !strings.Contains(at(t, read, "contents", 0, "text").(string), `"session_id":"a"`) {
		t.Errorf("resource: %v", read)
	}
}
