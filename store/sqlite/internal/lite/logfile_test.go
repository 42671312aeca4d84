package lite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// openWriter is a writer whose log is collected, on a new file with a table.
func openWriter(t testing.TB) (*lite.Conn, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.db")
	c := open(t, path, lite.Writer)
	exec(t, c, `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE v (x INTEGER PRIMARY KEY, y)`)
	if err := c.CollectLog(); err != nil {
		t.Fatal(err)
	}
	return c, path
}

func TestACollectedCommitIsThereForOthers(t *testing.T) {
	c, path := openWriter(t)
	other := open(t, path, lite.ReadWrite)
	for i := range 50 {
		run(t, c.Prepare(`INSERT INTO v (y) VALUES (?)`).Text(strings.Repeat("y", i*100)))
		if n := number(t, other, `SELECT count(*) FROM v`); n != int64(i+1) {
			t.Fatalf("%d rows after %d commits", n, i+1)
		}
	}
	if n := number(t, other, `SELECT sum(length(y)) FROM v`); n != 100*49*50/2 {
		t.Errorf("%d bytes", n)
	}
}

// A commit far larger than what is collected at once is written in pieces.
func TestALargeCommit(t *testing.T) {
	c, path := openWriter(t)
	for _, size := range []int{100_000, 131_072, 1 << 20, 3 << 20} {
		run(t, c.Prepare(`INSERT INTO v (y) VALUES (?)`).Text(strings.Repeat("z", size)))
	}
	other := open(t, path, lite.ReadWrite)
	if n := number(t, other, `SELECT sum(length(y)) FROM v`); n != 100_000+131_072+4<<20 {
		t.Errorf("%d bytes", n)
	}
	if q := other.Prepare(`PRAGMA integrity_check`); true {
		defer q.Close()
		if _, err := q.Step(); err != nil || q.ReadText() != "ok" {
			t.Errorf("damaged: %v", err)
		}
	}
}

// A transaction too large for memory writes to the log before it commits. When it is rolled back
// and somebody else writes to the same place of the log, that must stay.
func TestWhatWasRolledBackIsNeverWritten(t *testing.T) {
	c, path := openWriter(t)
	other := open(t, path, lite.ReadWrite)
	exec(t, c, `PRAGMA cache_size = 10`)
	for round := range 5 {
		// With an empty log nothing is read from it while the transaction is rolled back.
		if _, _, err := c.Checkpoint(true); err != nil {
			t.Fatal(err)
		}
		exec(t, c, `BEGIN IMMEDIATE`)
		for range 60 {
			run(t, c.Prepare(`INSERT INTO v (y) VALUES (?)`).Text(strings.Repeat("never", 700)))
		}
		exec(t, c, `ROLLBACK`)
		c.DropLog()
		for range 20 {
			run(t, other.Prepare(`INSERT INTO v (y) VALUES (?)`).Text(strings.Repeat("kept", 700)))
		}
		// Reading goes through the log, and so would what was left to be written.
		want := int64(20 * (round + 1))
		if n := number(t, c, `SELECT count(*) FROM v WHERE y LIKE 'kept%'`); n != want {
			t.Fatalf("round %d: %d rows, want %d", round, n, want)
		}
		fresh := open(t, path, lite.ReadWrite)
		if n := number(t, fresh, `SELECT count(*) FROM v`); n != want {
			t.Fatalf("round %d: %d rows for a new reader, want %d", round, n, want)
		}
	}
}

func TestOnlyAWriterCollects(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	c := open(t, path, lite.ReadWrite)
	exec(t, c, `PRAGMA journal_mode = WAL; CREATE TABLE v (x)`)
	if err := c.CollectLog(); err == nil {
		t.Error("another connection collects")
	}
	c.DropLog() // which has nothing to drop
}

// After a commit the log is on disk: another process that finds it as it is now finds the rows.
func TestACommitIsInTheFiles(t *testing.T) {
	c, path := openWriter(t)
	for i := range 6 {
		run(t, c.Prepare(`INSERT INTO v (y) VALUES (?)`).Text(fmt.Sprint("row ", i)))
		copied := filepath.Join(t.TempDir(), "copy.db")
		for _, suffix := range []string{"", "-wal"} {
			data, err := os.ReadFile(path + suffix)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(copied+suffix, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if n := number(t, open(t, copied, lite.ReadWrite), `SELECT count(*) FROM v`); n != int64(i+1) {
			t.Fatalf("%d rows after %d commits", n, i+1)
		}
	}
}
