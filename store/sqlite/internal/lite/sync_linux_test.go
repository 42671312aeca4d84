package lite_test

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// A log that was just made is synced with its name, and with that done only its content is.
func TestTheNameOfALogIsSyncedOnce(t *testing.T) {
	c := open(t, filepath.Join(t.TempDir(), "log.db"), lite.ReadWrite)
	exec(t, c, `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL`)
	number(t, c, `SELECT count(*) FROM sqlite_schema`) // with which the log is made
	if err := c.BufferLog(); err != nil {
		t.Fatal(err)
	}
	whole := c.CountWholeSyncs()
	for i := range 4 {
		exec(t, c, `CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, x TEXT)`)
		exec(t, c, `INSERT INTO t (x) VALUES ('x')`)
		if *whole != 1 {
			t.Errorf("%d syncs with the name after commit %d, want one", *whole, i)
		}
	}
	if all := c.Syncs(); all < 5 {
		t.Errorf("%d syncs of 5 commits", all)
	}
}

// A full disk may be told of only when the log is synced, and is told from a broken one by what the system said.
func TestAFailedSyncSaysWhatTheSystemSaid(t *testing.T) {
	c := logged(t, filepath.Join(t.TempDir(), "log.db"), true)
	if err := tryCommit(t, c, false, 1); err != nil {
		t.Fatal(err)
	}
	mend := c.RefuseSyncs()
	defer mend()
	var failed *lite.Error
	if err := tryCommit(t, c, false, 1); !errors.As(err, &failed) || failed.Cause != syscall.EBADF {
		t.Errorf("got %v, want what the system said: %v", err, syscall.EBADF)
	}
}
