package main

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
)

func TestRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	mustRun(t, path, "append", "--session", "demo", "--role", "user", "--text", "hello")
	st, err := place{path: path}.open(t.Context(), toUse)
	if err != nil {
		t.Fatal(err)
	}
	taken := 0
	for row, err := range rows(t.Context(), st, nil) {
		if err != nil || row.Table != "sessions" {
			t.Errorf("got %v, %v", row, err)
		}
		taken++
		break
	}
	if err := st.Close(); err != nil || taken != 1 {
		t.Errorf("%d rows, %v", taken, err)
	}

	closed := mem.New(mem.Config{})
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	var got error
	for _, err := range rows(t.Context(), closed, nil) {
		got = err
	}
	if !errors.Is(got, store.ErrClosed) {
		t.Errorf("got %v, want %v", got, store.ErrClosed)
	}
}
