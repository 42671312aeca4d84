package main

import (
	"path/filepath"
	"testing"
)

func TestRun(t *testing.T) {
	if err := run(t.Context(), filepath.Join(t.TempDir(), "agent.db")); err != nil {
		t.Fatal(err)
	}
}
