package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// inProcess runs a command line on a store and returns its exit code and what it printed.
func inProcess(ctx context.Context, store string, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	env := map[string]string{envStore: store, "TZ": "UTC"}
	code = run(ctx, args, system{
		stdin: strings.NewReader(""), stdout: &out, stderr: &errs, getenv: func(name string) string { return env[name] },
	})
	return code, out.String(), errs.String()
}

func mustRun(t *testing.T, store string, args ...string) string {
	t.Helper()
	code, stdout, stderr := inProcess(t.Context(), store, args...)
	if code != 0 {
		t.Fatalf("turnstone %s: exit code %d: %s", strings.Join(args, " "), code, stderr)
	}
	return stdout
}

// TestLightAnswersAtOnce talks to the process and then interrupts it.
func TestLightAnswersAtOnce(t *testing.T) {
	cmd := exec.Command("turnstone", "--store", filepath.Join(t.TempDir(), "store.db"), "light")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewReader(out)
	for range 3 {
		if _, err := io.WriteString(in, `{"session":"s","action":"retrieve"}`+"\n"); err != nil {
			t.Fatal(err)
		}
		answer, err := answers.ReadString('\n')
		if err != nil || answer != `{"success":true,"context":null}`+"\n" {
			t.Fatalf("got %q, %v", answer, err)
		}
	}
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted there")
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		t.Errorf("got %v, want exit code %d", err, exitInterrupted)
	}
	if got := errs.String(); got != "turnstone: interrupted; nothing half-done was left behind\n" {
		t.Errorf("standard error: %q", got)
	}
}

func TestInterruptedWorkLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	store := filepath.Join(dir, "store.db")
	mustRun(t, store, "append", "--session", "demo", "--role", "user", "--text", "hello")
	mustRun(t, store, "bundle", "export", "--session", "demo", filepath.Join(dir, "demo.bundle"))
	exchange := filepath.Join(dir, "exchange.json")
	if err := os.WriteFile(exchange, []byte(`{"turns":[{"role":"user","text":"hello"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	before := listing(t, dir)
	for _, args := range [][]string{
		{"bundle", "export", "--session", "demo", filepath.Join(dir, "new.bundle")},
		{"bundle", "verify", filepath.Join(dir, "demo.bundle")},
		{"bundle", "import", filepath.Join(dir, "demo.bundle"), "--as", "copy"},
		{"backup", filepath.Join(dir, "copy.db")},
		{"doctor"},
		{"replay", filepath.Join(dir, "demo.bundle")},
		{"append", "--session", "other", "--role", "user", "--text", "hello"},
		{"commit", "other", exchange},
		{"goal", "add", "Rest", "--session", "demo"},
		{"memory", "list"},
		{"sweep"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		code, stdout, stderr := inProcess(ctx, store, args...)
		if code != exitInterrupted || stdout != "" || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit code %d, printed %q and %q", args[0], code, stdout, stderr)
		}
	}
	if after := listing(t, dir); after != before {
		t.Errorf("before: %s, after: %s", before, after)
	}
	if list := mustRun(t, store, "session", "list", "--json"); strings.Count(list, "\n") != 1 {
		t.Errorf("sessions: %s", list)
	}
}

func listing(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(entries)
}

// full is an output that takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no room") }

type counting struct {
	full
	writes int
}

func (c *counting) Write(p []byte) (int, error) {
	c.writes++
	return c.full.Write(p)
}

func TestOutputThatCannotBeWritten(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store.db")
	mustRun(t, store, "append", "--session", "demo", "--role", "user", "--text", "hello")
	for _, args := range [][]string{
		{"history", "--session", "demo"}, {"session", "list", "--json"}, {"doctor"}, {"version"},
		{"bundle", "export", "--session", "demo", "-"}, {"help"},
	} {
		var errs bytes.Buffer
		code := run(t.Context(), append(args, "--store", store), system{
			stdin: strings.NewReader(""), stdout: full{}, stderr: &errs, getenv: func(string) string { return "" },
		})
		if code != exitInternal || !strings.Contains(errs.String(), "no room") {
			t.Errorf("%s: exit code %d: %s", args[0], code, errs.String())
		}
	}
	// Where nothing can be said at all, the exit code still says it.
	gone := &counting{}
	code := run(t.Context(), []string{"--store", store, "append", "--session", "new", "--role", "user", "--text", "hello"}, system{
		stdin: strings.NewReader(""), stdout: full{}, stderr: gone, getenv: func(string) string { return "" },
	})
	if code != exitInternal || gone.writes != 1 {
		t.Errorf("exit code %d, want %d; %d writes to what takes none", code, exitInternal, gone.writes)
	}
}

// TestPages holds the listings to their pages where one read of the store is not enough.
func TestPages(t *testing.T) {
	if testing.Short() {
		t.Skip("writes thousands of turns")
	}
	dir := t.TempDir()
	store := filepath.Join(dir, "store.db")
	const turns = 2500
	bundle := filepath.Join(dir, "long.jsonl")
	if err := os.WriteFile(bundle, []byte(longBundle(turns)), 0o600); err != nil {
		t.Fatal(err)
	}
	mustRun(t, store, "bundle", "import", bundle)
	all := mustRun(t, store, "query", "--session", "long", "--limit", "0", "--json")
	if got := strings.Count(all, "\n"); got != turns {
		t.Errorf("%d turns, want %d", got, turns)
	}
	code, page, stderr := inProcess(t.Context(), store, "query", "--session", "long", "--after", "1200", "--limit", "1100", "--json")
	if code != 0 || strings.Count(page, "\n") != 1100 || stderr != "{\"next\":2300}\n" || !strings.Contains(all, page) {
		t.Errorf("exit code %d, %d turns, %q", code, strings.Count(page, "\n"), stderr)
	}
}
