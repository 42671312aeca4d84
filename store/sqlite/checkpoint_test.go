package sqlite_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

func size(t testing.TB, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func TestTheLogIsCopiedInTheBackground(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	s := open(t, path, sqlite.Config{})
	s.ShortenLog(16, 1<<20)
	k := create(t, s, key("s")).Key
	for range 20 {
		mustSay(t, s, k, strings.Repeat("x", 20_000))
	}
	eventually(t, "copying", func() bool { return size(t, path) > 300_000 })
}

// The log starts anew once it is copied, so that it does not grow with the file.
func TestTheLogStaysShort(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	s := open(t, path, sqlite.Config{})
	s.ShortenLog(64, 256)
	k := create(t, s, key("s")).Key
	for range 300 {
		mustSay(t, s, k, strings.Repeat("x", 20_000))
	}
	if log, file := size(t, path+"-wal"), size(t, path); log > 5<<20 || file < 1<<20 {
		t.Errorf("the log has %d bytes, the file %d", log, file)
	}
}

// A reader that takes its time makes the log grow, and nobody wait.
func TestALongReadDoesNotHoldUpWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	s := open(t, path, sqlite.Config{})
	s.ShortenLog(16, 32)
	k := create(t, s, key("s")).Key
	mustSay(t, s, k, "seen")
	err := s.View(t.Context(), func(tx store.Tx) error {
		before, err := tx.Log().Session(t.Context(), k)
		if err != nil {
			return err
		}
		for range 100 {
			mustSay(t, s, k, strings.Repeat("x", 20_000))
		}
		after, err := tx.Log().Session(t.Context(), k)
		if err != nil {
			return err
		}
		if before.Head != 1 || after.Head != 1 {
			t.Errorf("head %d and then %d in one view", before.Head, after.Head)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		mustSay(t, s, k, strings.Repeat("x", 20_000))
	}
	if log := size(t, path+"-wal"); log > 5<<20 {
		t.Errorf("the log has %d bytes after the reader left", log)
	}
}
