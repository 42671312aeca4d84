// Package litetest gives tests the SQLite file that most of them want: one with tables and without rows.
package litetest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// File makes a file with the tables of a store and without rows, and returns its path; one that is there is left as it
// is. Opening it does what opening any store does that was made before: making tables takes ten times as long, and waits
// for the disk after each migration.
func File(t testing.TB, path string) string {
	t.Helper()
	made.Do(func() { made.text, made.err = fresh(context.WithoutCancel(t.Context())) })
	if made.err != nil {
		t.Fatal(made.err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return path
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(made.text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// made is a new store as it is on the disk, made once in a process.
var made struct {
	sync.Once
	text []byte
	err  error
}

func fresh(ctx context.Context) (text []byte, err error) {
	folder, err := os.MkdirTemp("", "turnstone-lite-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, "made.db")
	s, err := sqlite.Open(ctx, path, sqlite.Config{Synchronous: sqlite.Normal})
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	// What is in the log only would be lost.
	if info, err := os.Stat(path + "-wal"); err == nil && info.Size() > 0 {
		return nil, fmt.Errorf("%s was closed and has %d bytes of log", path, info.Size())
	}
	return os.ReadFile(path)
}
