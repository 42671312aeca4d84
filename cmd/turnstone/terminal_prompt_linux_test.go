package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestStatusOnATerminal(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store.db")
	mustRun(t, store, "session", "create", "demo", "--model", "gpt-4o")
	mustRun(t, store, "append", "--session", "demo", "--role", "user", "--text", "hello")
	for _, test := range []struct {
		env  []string
		want string
	}{
		{[]string{"LC_ALL=en_US.UTF-8"}, "/108,800 🟢 95% (0 compressions) · 0/0 pins"},
		{[]string{"LC_ALL=C"}, "/108,800 high 95% (0 compressions), 0/0 pins"},
		{[]string{"LC_ALL=en_US.UTF-8", "NO_COLOR=1"}, "/108,800 high 95% (0 compressions), 0/0 pins"},
	} {
		if got := onTerminal(t, test.env, "--store", store, "status", "--session", "demo"); !strings.Contains(got, test.want) {
			t.Errorf("%v: got %q", test.env, got)
		}
	}
	if got := onTerminal(t, nil, "--store", store, "prompt", "--session", "demo", "--explain"); !strings.Contains(got, "\x1b[36mr\x1b[0m") {
		t.Errorf("the account is not painted: %q", got)
	}
}

// TestMovingShowsProgress holds the bars of import and export to what they say.
func TestMovingShowsProgress(t *testing.T) {
	folder := t.TempDir()
	store, file := filepath.Join(folder, "store.db"), filepath.Join(folder, "talk.jsonl")
	if err := os.WriteFile(file, []byte(strings.Repeat(`{"role":"user","content":"hello"}`+"\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	got := onTerminal(t, nil, "--store", store, "import", file, "--session", "demo")
	for _, want := range []string{"reading  [#", "importing  [#", "100%  3.3 KiB", "imported demo: 100 turns, from lines"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	if got := onTerminal(t, nil, "--store", store, "export", "--session", "demo", "-o", filepath.Join(folder, "out.json")); !strings.Contains(got, "export demo  ...") {
		t.Errorf("no progress: %q", got)
	}
	if got := atTerminal(t, "x", nil, "--store", store, "tokens"); !strings.Contains(got, "tokens: there is nothing to count; name a file") {
		t.Errorf("got %q", got)
	}
}
