package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/event"
)

const testExport = "01ARZ3NDEKTSV4RRFFQ69G5FAV"

// committedStore returns a store with one exchange in it.
func committedStore(t *testing.T) (store string) {
	t.Helper()
	dir := t.TempDir()
	store = filepath.Join(dir, "store.db")
	file := filepath.Join(dir, "exchange.json")
	exchange := `{"turns":[{"role":"user","text":"I like\twindow seats\u001b[31m"},{"role":"agent","text":"Good."}],
		"candidates":[{"type":"user_data","text":"Likes window seats"}],"intentions":{"goals":[{"title":"Travel"}]}}`
	if err := os.WriteFile(file, []byte(exchange), 0o600); err != nil {
		t.Fatal(err)
	}
	mustRun(t, store, "commit", "demo", file, "--export-id", testExport)
	return store
}

func TestForgetAsksOnATerminal(t *testing.T) {
	store := committedStore(t)
	var item struct{ ID string }
	if err := json.Unmarshal([]byte(mustRun(t, store, "memory", "list", "--json")), &item); err != nil {
		t.Fatal(err)
	}
	forget := []string{"--store", store, "--no-color", "memory", "forget", item.ID}
	const question, kept, gone = "Forget 1 item for good? [y/N] ", "nothing was forgotten", "forgot 1 item"
	for _, test := range []struct{ name, typed, want string }{
		{"no", "no\n", kept}, {"only return", "\n", kept}, {"something else", "sure\n", kept}, {"the end of input", "\x04", kept}, {"yes", "Y\n", gone},
	} {
		shown := atTerminal(t, test.typed, nil, forget...)
		if !strings.Contains(shown, question) || !strings.Contains(shown, test.want) {
			t.Errorf("%s: %q", test.name, shown)
		}
	}
	if left := mustRun(t, store, "memory", "list"); left != "" {
		t.Errorf("left: %s", left)
	}
	store = committedStore(t)
	if err := json.Unmarshal([]byte(mustRun(t, store, "memory", "list", "--json")), &item); err != nil {
		t.Fatal(err)
	}
	if shown := atTerminal(t, "no\n", nil, "--store", store, "memory", "forget", "--yes", item.ID); strings.Contains(shown, question) || !strings.Contains(shown, gone) {
		t.Errorf("--yes: %q", shown)
	}
}

func TestExportsOnATerminal(t *testing.T) {
	store := committedStore(t)
	shown := onTerminal(t, nil, "--store", store, "export", "show", testExport)
	if !strings.HasPrefix(shown, "{\r\n  \"schema_version\": 1,\r\n") {
		t.Errorf("indented: %q", shown)
	}
	if shown := onTerminal(t, nil, "--store", store, "export", "show", testExport, "--json"); !strings.HasPrefix(shown, `{"schema_version":1,`) {
		t.Errorf("--json: %q", shown)
	}
	tail := onTerminal(t, []string{"NO_COLOR=1"}, "--store", store, "daemon", "tail", "--from-start", "--once")
	if !strings.HasSuffix(tail, "  demo  complete  "+testExport+"  2 turns  1 memory item  1 goal  I like window seats\\x1b[31m\r\n") || strings.Count(tail, "\n") != 1 {
		t.Errorf("tail: %q", tail)
	}
	if tail := onTerminal(t, nil, "--store", store, "daemon", "tail", "--from-start", "--once"); !strings.Contains(tail, "\x1b[32mcomplete\x1b[0m") {
		t.Errorf("tail in colours: %q", tail)
	}
	if tail := onTerminal(t, nil, "--store", store, "daemon", "tail", "--from-start", "--once", "--json"); !strings.HasPrefix(tail, `{"schema_version":1,`) {
		t.Errorf("tail --json: %q", tail)
	}
}

// An export that a newer turnstone wrote is a line that says so, and the next one follows.
func TestNewerExportsOnATerminal(t *testing.T) {
	store := committedStore(t)
	newer := newerExport(t, store, testExport)
	tail := onTerminal(t, []string{"NO_COLOR=1"}, "--store", store, "daemon", "tail", "--from-start", "--once")
	lines := strings.SplitAfter(strings.TrimSuffix(tail, "\r\n"), "\r\n")
	want := "  demo  cannot be read  " + newer + "  schema_version: 2 is not known, this program reads 1; use a newer turnstone"
	if len(lines) != 3 || !strings.HasSuffix(strings.TrimSuffix(lines[1], "\r\n"), want) || !strings.Contains(lines[2], "  demo  complete  ") {
		t.Errorf("tail: %q, want three lines of which the second ends in %q", lines, want)
	}
}

// An export that is damaged is a line that says so, also to a daemon, which would come to it again and again.
func TestDamagedExportsOnATerminal(t *testing.T) {
	store := committedStore(t)
	damaged := exportBeside(t, store, testExport, func(e *event.Export) { e.Status = "\xff" })
	for _, args := range [][]string{nil, {"--name", "looker"}} {
		tail := onTerminal(t, []string{"NO_COLOR=1"}, append([]string{"--store", store, "daemon", "tail", "--from-start", "--once"}, args...)...)
		lines := strings.Split(strings.TrimSuffix(tail, "\r\n"), "\r\n")
		if len(lines) != 3 || !strings.Contains(lines[1], "  demo  cannot be read  "+damaged+"  ") || !strings.Contains(lines[2], "  demo  complete  ") {
			t.Errorf("%v: tail %q, want three lines of which the second says that it cannot be read", args, lines)
		}
	}
}

func TestTraceOnATerminal(t *testing.T) {
	store := committedStore(t)
	for _, test := range []struct {
		env  []string
		line string
	}{{nil, "█"}, {[]string{"TERM=dumb"}, "#"}} {
		if shown := onTerminal(t, test.env, "--store", store, "trace", testExport); !strings.Contains(shown, test.line) {
			t.Errorf("%v: %q", test.env, shown)
		}
	}
}

func TestNothingToCommitOnATerminal(t *testing.T) {
	args := []string{"--store", filepath.Join(t.TempDir(), "store.db"), "--no-color", "commit", "demo"}
	if shown := atTerminal(t, "\n", nil, args...); !strings.Contains(shown, "turnstone: commit: there is nothing to commit; name a file ") {
		t.Errorf("got %q", shown)
	}
}

func TestSweepShowsThatItWorks(t *testing.T) {
	store := committedStore(t)
	if shown := onTerminal(t, nil, "--store", store, "sweep"); !strings.HasPrefix(shown, "\rsweeping  ...") || !strings.HasSuffix(shown, "nothing has expired\r\n") {
		t.Errorf("got %q", shown)
	}
	if shown := onTerminal(t, nil, "--store", store, "sweep", "--quiet"); shown != "nothing has expired\r\n" {
		t.Errorf("--quiet: %q", shown)
	}
}
