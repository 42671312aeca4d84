package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// onTerminal runs the command with standard output and error on a terminal of its own and returns
// what that showed.
func onTerminal(t *testing.T, env []string, args ...string) string {
	t.Helper()
	return atTerminal(t, "", env, args...)
}

// atTerminal is onTerminal with somebody there who types, if that is not empty.
func atTerminal(t *testing.T, typed string, env []string, args ...string) string {
	t.Helper()
	control, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	defer control.Close()
	if err := unix.IoctlSetPointerInt(int(control.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(control.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	screen, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("turnstone", args...)
	cmd.Env = ownHome(t, append([]string{"TERM=xterm", "NO_COLOR="}, env...)...)
	cmd.Stdout, cmd.Stderr = screen, screen
	if typed != "" {
		cmd.Stdin = screen
		if _, err := control.WriteString(typed); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := screen.Close(); err != nil {
		t.Fatal(err)
	}
	// The end of the last program on a terminal reads as an error here.
	shown, err := io.ReadAll(control)
	if err != nil && len(shown) == 0 {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v: %s", err, shown)
	}
	return string(shown)
}

func TestColoursOnATerminal(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store.db")
	mustRun(t, store, "append", "--session", "demo", "--role", "user", "--text", "hello")
	const painted, alarm = "\x1b[36muser\x1b[0m", "\x1b[31mturnstone:\x1b[0m session nobody: not found;"
	for _, test := range []struct {
		name    string
		env     []string
		flags   []string
		colours bool
	}{
		{"by default", nil, nil, true},
		{"NO_COLOR", []string{"NO_COLOR=1"}, nil, false},
		{"--no-color", nil, []string{"--no-color"}, false},
		{"a dumb terminal", []string{"TERM=dumb"}, nil, false},
		{"a terminal without a name", []string{"TERM="}, nil, false},
		{"JSON", nil, []string{"--json"}, false},
	} {
		args := append([]string{"--store", store, "history", "--session", "demo"}, test.flags...)
		if shown := onTerminal(t, test.env, args...); strings.Contains(shown, painted) != test.colours || !strings.Contains(shown, "hello") {
			t.Errorf("%s: %q", test.name, shown)
		}
		args[len(args)-1-len(test.flags)] = "nobody"
		if shown := onTerminal(t, test.env, args...); strings.Contains(shown, alarm) != (test.colours || test.name == "JSON") {
			t.Errorf("%s, an error: %q", test.name, shown)
		}
	}
	if plain := mustRun(t, store, "history", "--session", "demo"); strings.Contains(plain, "\x1b") {
		t.Errorf("without a terminal: %q", plain)
	}
}

func TestProgressOnATerminal(t *testing.T) {
	dir := t.TempDir()
	store := filepath.Join(dir, "store.db")
	bundle := filepath.Join(dir, "long.jsonl")
	if err := os.WriteFile(bundle, []byte(longBundle(10)), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, args := range [][]string{
		{"bundle", "import", bundle}, {"bundle", "verify", bundle}, {"bundle", "export", "--session", "long"},
		{"backup"}, {"doctor"},
	} {
		for _, quiet := range []bool{false, true} {
			run := append([]string{"--store", store}, args...)
			switch {
			case args[0] == "backup":
				run = append(run, filepath.Join(dir, fmt.Sprintf("%v.db", quiet)))
			case args[len(args)-1] == "long":
				run = append(run, filepath.Join(dir, fmt.Sprintf("%v.bundle", quiet)))
			case i == 0:
				run = append(run, "--as", map[bool]string{false: "long", true: "quiet"}[quiet])
			}
			if quiet {
				run = append(run, "--quiet")
			}
			shown := onTerminal(t, nil, run...)
			if drawn := strings.HasPrefix(shown, "\r"); drawn == quiet {
				t.Errorf("%v: %q", run, shown)
			}
			if bundle := args[0] == "bundle"; bundle && strings.Contains(shown, "] 100%") == quiet {
				t.Errorf("%v: the bar does not follow the work: %q", run, shown)
			}
			// The bar is gone before the answer comes.
			if last := shown[strings.LastIndex(strings.TrimRight(shown, "\r\n"), "\r")+1:]; strings.Contains(last, "rows") || strings.Contains(last, "0 turns ") {
				t.Errorf("%v: the bar stays: %q", run, shown)
			}
		}
	}
}

func TestImportShowsItsPasses(t *testing.T) {
	dir := t.TempDir()
	bundle := filepath.Join(dir, "long.jsonl")
	if err := os.WriteFile(bundle, []byte(longBundle(1500)), 0o600); err != nil {
		t.Fatal(err)
	}
	shown := onTerminal(t, nil, "--store", filepath.Join(dir, "store.db"), "bundle", "import", bundle)
	at := 0
	for _, want := range []string{"verifying  [---", "] 100%  1,500 turns", "importing  [---", "] 100%  1,500 turns", "indexing  ...", "imported long: 1,500 turns"} {
		i := strings.Index(shown[at:], want)
		if i < 0 {
			t.Fatalf("%q is missing after %d: %q", want, at, shown)
		}
		at += i + len(want)
	}
}

func TestLongTurnsAreCutOnATerminal(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store.db")
	mustRun(t, store, "append", "--session", "demo", "--role", "user", "--text", strings.Repeat("x", maxShown+7))
	args := []string{"--store", store, "history", "--session", "demo"}
	if shown := onTerminal(t, nil, args...); !strings.Contains(shown, "x… (7 more characters; --json shows all)") {
		t.Errorf("on a terminal: %q", shown)
	}
	if piped := mustRun(t, store, args[2:]...); !strings.Contains(piped, strings.Repeat("x", maxShown+7)) {
		t.Errorf("in a pipe: %q", piped)
	}
}

func TestNoBlobOnATerminal(t *testing.T) {
	args := []string{"--store", filepath.Join(t.TempDir(), "store.db"), "--no-color", "blob", "get", strings.Repeat("0", 64)}
	if shown := onTerminal(t, nil, args...); !strings.HasPrefix(shown, "turnstone: blob get: an image or a recording is nothing for a terminal; ") {
		t.Errorf("got %q", shown)
	}
}

func TestNoPackedBundleOnATerminal(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store.db")
	mustRun(t, store, "append", "--session", "demo", "--role", "user", "--text", "hello")
	args := []string{"--store", store, "--no-color", "--quiet", "bundle", "export", "--session", "demo", "-"}
	if shown := onTerminal(t, nil, args...); !strings.HasPrefix(shown, "turnstone: bundle export: a packed bundle is nothing for a terminal; ") {
		t.Errorf("packed: %q", shown)
	}
	if shown := onTerminal(t, nil, append(args, "--no-compress")...); !strings.HasPrefix(shown, `{"turnstone_bundle":`) {
		t.Errorf("readable: %q", shown)
	}
}
