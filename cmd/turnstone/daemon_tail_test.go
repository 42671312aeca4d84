package main

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
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
