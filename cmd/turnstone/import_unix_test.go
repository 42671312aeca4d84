//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestImportIntoANewStoreKeepsItsName holds errors to the name that the user gave.
func TestImportIntoANewStoreKeepsItsName(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("nothing is forbidden to root")
	}
	dir := t.TempDir()
	bundle := filepath.Join(dir, "long.jsonl")
	closed := filepath.Join(dir, "closed")
	if err := os.WriteFile(bundle, []byte(longBundle(1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(closed, 0o500); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := inProcess(t.Context(), filepath.Join(closed, "new.db"), "bundle", "import", bundle)
	if code != exitUnavailable || !strings.Contains(stderr, "new.db: allow this user") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
