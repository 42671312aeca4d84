//go:build unix

package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/turnstone-dev/turnstone/store/sqlite"
)

func TestFilesAreForTheirOwnerAlone(t *testing.T) {
	dir := t.TempDir()
	path, backup := filepath.Join(dir, "test.db"), filepath.Join(dir, "backup.db")
	s := open(t, path, sqlite.Config{})
	mustSay(t, s, create(t, s, key("s")).Key, "private")
	if err := s.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{path, path + "-wal", path + "-shm", backup} {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", file, info, err)
		}
	}
}

func TestAModeThatWasGivenStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	closed(t, open(t, path, sqlite.Config{}))
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	open(t, path, sqlite.Config{})
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info, err)
	}
}
