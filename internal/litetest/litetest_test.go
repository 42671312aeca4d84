package litetest_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/turnstone-dev/turnstone/internal/litetest"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// A file that was made before is as large as one that opening it makes: it has the same tables and no row more.
func TestFileIsANewStore(t *testing.T) {
	folder := t.TempDir()
	made, opened := litetest.File(t, filepath.Join(folder, "made.db")), filepath.Join(folder, "opened.db")
	for _, path := range []string{made, opened} {
		if err := insert(t, path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if got, want := size(t, made), size(t, opened); got != want {
		t.Errorf("%d bytes, and %d of one that was opened", got, want)
	}
}

func TestFileLeavesWhatIsThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	for i, want := range []error{nil, turn.ErrExists} {
		if err := insert(t, litetest.File(t, path)); !errors.Is(err, want) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// insert makes a session in a file.
func insert(t *testing.T, path string) error {
	t.Helper()
	ctx := t.Context()
	st, err := sqlite.Open(ctx, path, sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}()
	return st.Update(ctx, func(tx store.Tx) error {
		_, err := tx.Log().InsertSession(ctx, turn.SessionInfo{
			Key: turn.Key{Tenant: turn.DefaultTenant, Session: "s"}, Status: turn.Active, CreatedAt: tx.Now(), LastActivity: tx.Now(),
		})
		return err
	})
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
