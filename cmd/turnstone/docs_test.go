package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
)

// documented are the lines in blocks of code of a page that begin with a word.
func documented(t *testing.T, page, word string) (lines []string) {
	t.Helper()
	for _, block := range regexp.MustCompile("(?ms)^```\\n(.*?)^```$").FindAllStringSubmatch(deployFile(t, "docs", page), -1) {
		for line := range strings.Lines(block[1]) {
			if strings.HasPrefix(line, word+" ") {
				lines = append(lines, strings.TrimSpace(line))
			}
		}
	}
	if len(lines) == 0 {
		t.Errorf("%s has no line that begins with %s", page, word)
	}
	return lines
}

// TestDocumentedCommands holds every line of turnstone that stands in the server's documents against what it takes, also those
// that run in a container.
func TestDocumentedCommands(t *testing.T) {
	quoted := regexp.MustCompile(`"[^"]*"`)
	known := func(page, arguments string) {
		knownLine(t, page, strings.Fields(quoted.ReplaceAllString(arguments, "quoted")))
	}
	for _, line := range documented(t, "server.md", "turnstone") {
		known("server.md", strings.TrimPrefix(line, "turnstone "))
	}
	inContainer := regexp.MustCompile(`(?: -v turnstone:/data| run --rm)(?: --stop-timeout \d+)? turnstone(.*)$`)
	for _, word := range []string{"podman", "docker"} {
		for _, line := range documented(t, "deploy.md", word) {
			ours := inContainer.FindStringSubmatch(line)
			if strings.Contains(line, " run ") != (ours != nil) {
				t.Errorf("it is not known what runs in %q", line)
			}
			if ours != nil && ours[1] != "" {
				known("deploy.md", ours[1])
			}
		}
	}
}

// TestDocumentedEvents: the server's document names every kind of event.
func TestDocumentedEvents(t *testing.T) {
	page := deployFile(t, "docs", "server.md")
	for _, kind := range eventKinds {
		if !strings.Contains(page, "`"+kind+"`") {
			t.Errorf("server.md does not name %s", kind)
		}
	}
}

// TestDocumentedCalls runs every line of curl that stands in the server's documents, as it stands there, against a server.
func TestDocumentedCalls(t *testing.T) {
	needsCurl(t)
	for page, keys := range map[string][]string{"deploy.md": nil, "server.md": {"--keys"}} {
		store := filepath.Join(t.TempDir(), "store.db")
		out, err := exec.Command("turnstone", "--store", store, "--json", "key", "create", "ops", "--scopes", "read,write,admin").Output()
		var made struct{ Secret string }
		if err != nil || json.Unmarshal(out, &made) != nil || made.Secret == "" {
			t.Fatalf("no key: %v: %s", err, out)
		}
		s := serveProcess(t, store, keys...)
		place := strings.NewReplacer("http://127.0.0.1:7411", s.base, "https://turnstone.example", s.base, "ts_…", made.Secret)
		for _, line := range documented(t, page, "curl") {
			cmd := exec.Command("bash", "-euc", place.Replace(strings.Replace(line, "curl ", "curl --fail ", 1)))
			cmd.Env = append(os.Environ(), "KEY="+made.Secret)
			if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), `{"`) {
				t.Errorf("%s: %s: %v: %s", page, line, err, out)
			}
		}
		s.end(os.Interrupt)
	}
}

// TestDocumentedHandedOn asks for everything that the server's document says is handed on, and for what it says is not.
func TestDocumentedHandedOn(t *testing.T) {
	page := deployFile(t, "docs", "server.md")
	quoted := regexp.MustCompile("`(/[^`]*)`")
	var asked atomic.Int64
	upstream := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer upstream.Close()
	s := serveProcess(t, filepath.Join(t.TempDir(), "store.db"), "--url", upstream.URL)
	ask := func(method, path string) (handedOn bool) {
		before := asked.Load()
		r, err := http.NewRequestWithContext(t.Context(), method, s.base+path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := answer.Body.Close(); err != nil {
			t.Error(err)
		}
		if on := answer.StatusCode != http.StatusNotFound; on != (asked.Load() > before) {
			t.Errorf("%s %s: status %d, and the model server was asked %d times", method, path, answer.StatusCode, asked.Load()-before)
		}
		return asked.Load() > before
	}
	found := 0
	for _, row := range regexp.MustCompile(`(?m)^\| (GET|POST) \| (.*) \|$`).FindAllStringSubmatch(page, -1) {
		for _, path := range quoted.FindAllStringSubmatch(row[2], -1) {
			if found++; !ask(row[1], path[1]) {
				t.Errorf("%s %s is not handed on", row[1], path[1])
			}
		}
	}
	refused := regexp.MustCompile(`(?m)^Nothing else is: (.*)$`).FindString(page)
	for _, path := range quoted.FindAllStringSubmatch(refused, -1) {
		if found++; ask(http.MethodPost, path[1]) {
			t.Errorf("%s is handed on", path[1])
		}
	}
	if found != 13 {
		t.Errorf("the document names %d paths", found)
	}
}
