package mcp_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/server/mcp"
)

// node returns a command that runs a script of the packages that scripts/deps installs. Their node is among them, since they
// need a newer one than many systems have.
func node(ctx context.Context, t *testing.T, script ...string) *exec.Cmd {
	t.Helper()
	if testing.Short() {
		t.Skip("starts node, which is slow and has nothing to race")
	}
	packages, err := filepath.Abs(filepath.Join("testdata", "npm"))
	if err != nil {
		t.Fatal(err)
	}
	node := filepath.Join(packages, "node_modules", ".bin", "node")
	if _, err := os.Stat(node); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("%v; run make deps", err)
		}
		t.Skipf("%v; run make deps", err)
	}
	script[0] = filepath.Join(packages, script[0])
	cmd := exec.CommandContext(ctx, node, script...)
	// What they keep of their user goes into a folder of the test.
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "NO_COLOR=1", "FORCE_COLOR=0", "HOME="+home, "USERPROFILE="+home)
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

const (
	passes = ""
	// Over HTTP the server keeps no sessions of the protocol, so that any replica may answer any request. There is nobody to
	// tell or to ask anything outside of an answer.
	tellsNothing = "an answer is one message, without others before it"
	asksNothing  = "the server has no sessions in which it could ask its client"
	noStreams    = "the server has no streams, and so none to resume"
	noWatching   = "the server has no sessions in which it could tell of changes"
)

// scenarios are all that the protocol's own suite has for servers, and why those do not apply that do not.
var scenarios = map[string]string{
	"server-initialize":             passes,
	"ping":                          passes,
	"logging-set-level":             passes,
	"completion-complete":           passes,
	"tools-list":                    passes,
	"tools-call-simple-text":        passes,
	"tools-call-image":              passes,
	"tools-call-audio":              passes,
	"tools-call-embedded-resource":  passes,
	"tools-call-mixed-content":      passes,
	"tools-call-error":              passes,
	"json-schema-2020-12":           passes,
	"resources-list":                passes,
	"resources-read-text":           passes,
	"resources-read-binary":         passes,
	"resources-templates-read":      passes,
	"prompts-list":                  passes,
	"prompts-get-simple":            passes,
	"prompts-get-with-args":         passes,
	"prompts-get-embedded-resource": passes,
	"prompts-get-with-image":        passes,
	"dns-rebinding-protection":      passes,

	"tools-call-with-logging":      tellsNothing,
	"tools-call-with-progress":     tellsNothing,
	"tools-call-sampling":          asksNothing,
	"tools-call-elicitation":       asksNothing,
	"elicitation-sep1034-defaults": asksNothing,
	"elicitation-sep1330-enums":    asksNothing,
	"server-sse-polling":           noStreams,
	"server-sse-multiple-streams":  noStreams,
	"resources-subscribe":          noWatching,
	"resources-unsubscribe":        noWatching,
}

// TestConformance runs the protocol's own suite, whole and in one process. Many scenarios call tools, read resources and get
// prompts of a made-up server by their names: those are added to ours.
func TestConformance(t *testing.T) {
	eng := openEngine(t, turnstone.Config{})
	s := mcp.New(mcp.Config{Engine: func(*http.Request) (*turnstone.Engine, error) { return eng, nil }})
	addFixtures(s.SDK())
	results := t.TempDir()
	cmd := node(t.Context(), t, "node_modules/.bin/conformance", "server", "--url", listen(t, s).URL, "--suite", "all", "--output-dir", results)
	// It fails with the scenarios that do not apply: what counts are the results.
	out, err := cmd.CombinedOutput()
	found, globErr := filepath.Glob(filepath.Join(results, "*", "checks.json"))
	if globErr != nil || len(found) == 0 {
		t.Fatalf("no results: %v, %v\n%s", err, globErr, out)
	}
	ran := map[string]bool{}
	for _, file := range found {
		name := regexp.MustCompile(`^server-(.*)-\d{4}-\d\d-\d\dT`).FindStringSubmatch(filepath.Base(filepath.Dir(file)))
		if name == nil {
			t.Fatalf("%s is of no scenario", file)
		}
		why, known := scenarios[name[1]]
		if !known {
			t.Errorf("%s is new: say whether the server passes it, or why it does not apply", name[1])
		}
		ran[name[1]] = true
		if passed, checks := conforms(t, file); passed != (why == passes) {
			t.Errorf("%s, %q: passed is %v:\n%s", name[1], why, passed, checks)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(scenarios)) {
		if !ran[name] {
			t.Errorf("%s is no scenario any more", name)
		}
	}
}

// conforms reports whether everything that was checked is as it should be.
func conforms(t *testing.T, file string) (passed bool, checks []byte) {
	t.Helper()
	checks, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var list []struct{ Status string }
	if err := json.Unmarshal(checks, &list); err != nil {
		t.Fatal(err)
	}
	for _, check := range list {
		switch check.Status {
		case "SUCCESS":
			passed = true
		case "INFO":
		default:
			return false, checks
		}
	}
	return passed, checks
}
