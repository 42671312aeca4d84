package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// TestTailPrintsAtOnceAndEndsCleanly follows what other processes commit and then interrupts it.
func TestTailPrintsAtOnceAndEndsCleanly(t *testing.T) {
	for _, name := range []string{"", "watcher"} {
		t.Run("as "+name, func(t *testing.T) {
			dir := t.TempDir()
			store, file := filepath.Join(dir, "store.db"), filepath.Join(dir, "exchange.json")
			if err := os.WriteFile(file, []byte(`{"turns":[{"role":"user","text":"hello"}]}`), 0o600); err != nil {
				t.Fatal(err)
			}
			mustRun(t, store, "commit", "demo", file)
			cmd := exec.Command("turnstone", "--store", store, "daemon", "tail", "--from-start")
			if name != "" {
				cmd.Args = append(cmd.Args, "--name", name)
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
			exports := bufio.NewReader(out)
			for range 2 {
				line, err := exports.ReadString('\n')
				if err != nil || !strings.HasPrefix(line, `{"schema_version":1,`) {
					t.Fatalf("got %q, %v", line, err)
				}
				mustRun(t, store, "commit", "demo", file)
			}
			if name != "" {
				checkStandby(t, store, name)
			}
			if runtime.GOOS == "windows" {
				t.Skip("a process cannot be interrupted there")
			}
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil || errs.String() != "" {
				t.Errorf("got %v, %q", err, errs.String())
			}
		})
	}
}

// checkStandby looks at a daemon that another process serves.
func checkStandby(t *testing.T, store, name string) {
	t.Helper()
	if list := mustRun(t, store, "daemon", "list"); !strings.Contains(list, name+"  working  ") {
		t.Errorf("list: %s", list)
	}
	code, stdout, stderr := inProcess(t.Context(), store, "daemon", "tail", "--name", name, "--once")
	if code != 0 || stdout != "" || stderr != "daemon "+name+" is at work elsewhere; standing by\n" {
		t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
	}
}

// TestTailEndsWhereNobodyReads holds both ways of tailing to an output that takes nothing.
func TestTailEndsWhereNobodyReads(t *testing.T) {
	dir := t.TempDir()
	store, file := filepath.Join(dir, "store.db"), filepath.Join(dir, "exchange.json")
	if err := os.WriteFile(file, []byte(`{"turns":[{"role":"user","text":"hello"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	mustRun(t, store, "commit", "demo", file)
	for _, args := range [][]string{{"daemon", "tail", "--from-start"}, {"daemon", "tail", "--from-start", "--name", "watcher"}} {
		var errs bytes.Buffer
		code := run(t.Context(), append(args, "--store", store), system{
			stdin: strings.NewReader(""), stdout: full{}, stderr: &errs, getenv: func(string) string { return "" },
		})
		if code != exitInternal || !strings.Contains(errs.String(), "no room") {
			t.Errorf("%v: exit code %d: %s", args, code, errs.String())
		}
	}
	// The export that could not be printed comes again.
	if again := mustRun(t, store, "daemon", "tail", "--name", "watcher", "--once"); strings.Count(again, "\n") != 1 {
		t.Errorf("again: %q", again)
	}
}

// TestTailOnceIsNotDoneWhenInterrupted tells an end that was asked for from one that leaves exports unprinted.
func TestTailOnceIsNotDoneWhenInterrupted(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store.db")
	mustRun(t, store, "session", "create", "demo")
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	for want, args := range map[int][]string{exitInterrupted: {"daemon", "tail", "--once"}, exitOK: {"daemon", "tail"}} {
		if code, _, stderr := inProcess(ctx, store, args...); code != want {
			t.Errorf("%v: exit code %d, want %d: %s", args, code, want, stderr)
		}
	}
}

// newerExport has the store of the file publish an export as a newer turnstone would write it, beside the one of that id, and then
// another one of this turnstone.
func newerExport(t *testing.T, path, beside string) (id string) {
	t.Helper()
	return exportBeside(t, path, beside, func(e *event.Export) {
		e.Body = strings.Replace(e.Body, `"schema_version":1`, `"schema_version":2,"brand_new":true`, 1)
	})
}

// exportBeside has the store of the file publish a changed copy of an export, and then another one.
func exportBeside(t *testing.T, path, beside string, change func(*event.Export)) (id string) {
	t.Helper()
	const tenant, copied = "default", "01JH5T8Q3VXK6Z0M4N7P9R2S1X"
	mustRun(t, path, "daemon", "tail", "--once") // publishes what is there
	st, err := sqlite.Open(t.Context(), path, sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	err = st.Update(t.Context(), func(tx store.Tx) error {
		e, err := tx.Outbox().Export(t.Context(), tenant, beside)
		if err != nil {
			return err
		}
		e.ID, e.Sent = copied, 0
		change(&e)
		return tx.Outbox().InsertExport(t.Context(), e)
	})
	if err := errors.Join(err, st.Close()); err != nil {
		t.Fatal(err)
	}
	mustRun(t, path, "daemon", "tail", "--once")
	file := filepath.Join(t.TempDir(), "exchange.json")
	if err := os.WriteFile(file, []byte(`{"turns":[{"role":"user","text":"And a table."}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	mustRun(t, path, "commit", "demo", file)
	return copied
}

// TestTailGoesOnBehindNewerExports meets an export that a newer turnstone wrote: programs that read the lines can tell it apart, and
// those behind it follow.
func TestTailGoesOnBehindNewerExports(t *testing.T) {
	dir := t.TempDir()
	path, file := filepath.Join(dir, "store.db"), filepath.Join(dir, "exchange.json")
	if err := os.WriteFile(file, []byte(`{"turns":[{"role":"user","text":"hello"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	const first = "01JH5T8Q3VXK6Z0M4N7P9R2S1W"
	mustRun(t, path, "commit", "demo", file, "--export-id", first)
	newer := newerExport(t, path, first)
	for _, args := range [][]string{nil, {"--json"}} {
		code, stdout, stderr := inProcess(t.Context(), path, append([]string{"daemon", "tail", "--from-start", "--once"}, args...)...)
		lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
		if code != 0 || stderr != "" || len(lines) != 3 {
			t.Fatalf("%v: exit code %d, %q, %q, want three exports", args, code, stdout, stderr)
		}
		if !strings.HasPrefix(lines[1], `{"schema_version":2,"export_id":"`+newer+`","turn_id":"`) ||
			!strings.Contains(lines[1], `,"session_id":"demo",`) ||
			!strings.HasSuffix(lines[1], `,"unreadable":"schema_version: 2 is not known, this program reads 1; use a newer turnstone"}`) {
			t.Errorf("%v: of the newer one is told %s", args, lines[1])
		}
		if !strings.HasPrefix(lines[2], `{"schema_version":1,`) || !strings.Contains(lines[2], "And a table.") {
			t.Errorf("%v: behind it is told %s", args, lines[2])
		}
	}
}
