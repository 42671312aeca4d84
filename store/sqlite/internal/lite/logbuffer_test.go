package lite_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

const setUp = `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, x TEXT)`

func logged(t *testing.T, path string, buffer bool) *lite.Conn {
	t.Helper()
	c := open(t, path, lite.ReadWrite)
	exec(t, c, setUp)
	if buffer {
		if err := c.BufferLog(); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func rows(t *testing.T, c *lite.Conn) int64 {
	t.Helper()
	return number(t, c, `SELECT count(*) FROM t WHERE length(x) = 3000`)
}

func fill(t *testing.T, c *lite.Conn, n int) {
	t.Helper()
	for range n {
		run(t, c.Prepare(`INSERT INTO t (x) VALUES (?)`).Text(strings.Repeat("x", 3000)))
	}
}

// tryCommit commits so many rows, synced later or at once. Where that fails nothing of it is left.
func tryCommit(t *testing.T, c *lite.Conn, later bool, rows int) error {
	t.Helper()
	c.SyncLater(later)
	exec(t, c, `BEGIN IMMEDIATE`)
	fill(t, c, rows)
	err := c.Exec(`COMMIT`)
	if c.InTransaction() {
		exec(t, c, `ROLLBACK`)
	}
	return err
}

// What was committed is there for others, more of it than the buffer holds and less.
func TestOthersSeeWhatWasCommittedThroughTheBuffer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	c, other := logged(t, path, true), logged(t, path, false)
	total := int64(0)
	for _, n := range []int{1, 300, 2, 40} {
		exec(t, c, `BEGIN IMMEDIATE`)
		fill(t, c, n)
		exec(t, c, `COMMIT`)
		total += int64(n)
		if got := rows(t, other); got != total {
			t.Errorf("%d rows, want %d", got, total)
		}
	}
}

// Pages that did not fit into memory are read back before the commit, changed again and undone.
func TestPagesThatAreStillInTheBuffer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	c, other := logged(t, path, true), logged(t, path, false)
	exec(t, c, `PRAGMA cache_size = 5; BEGIN IMMEDIATE`)
	fill(t, c, 30)
	if got := rows(t, c); got != 30 {
		t.Errorf("%d rows before the commit", got)
	}
	exec(t, c, `SAVEPOINT s; UPDATE t SET x = 'changed'`)
	fill(t, c, 5)
	exec(t, c, `ROLLBACK TO s; UPDATE t SET x = x || '' WHERE id % 3 = 0; COMMIT`)
	if got := rows(t, other); got != 30 {
		t.Errorf("%d rows after the commit", got)
	}
	// What is rolled back is not written later, over what another one wrote in its place.
	for range 5 {
		exec(t, c, `BEGIN IMMEDIATE`)
		fill(t, c, 20)
		exec(t, c, `ROLLBACK`)
		exec(t, other, `BEGIN IMMEDIATE`)
		fill(t, other, 2)
		exec(t, other, `COMMIT; BEGIN IMMEDIATE; DELETE FROM t WHERE id IN (SELECT id FROM t ORDER BY id DESC LIMIT 2); COMMIT`)
		exec(t, c, `BEGIN IMMEDIATE; UPDATE t SET x = x || '' WHERE id = 1; COMMIT`)
	}
	third := logged(t, path, false)
	if got := rows(t, third); got != 30 {
		t.Errorf("%d rows in the end", got)
	}
	q := third.Prepare(`PRAGMA integrity_check`)
	defer q.Close()
	if _, err := q.Step(); err != nil {
		t.Fatal(err)
	}
	if got := q.ReadText(); got != "ok" {
		t.Error(got)
	}
}

func TestThereIsNoLogToBuffer(t *testing.T) {
	if err := openNew(t, `CREATE TABLE t (x)`).BufferLog(); err == nil {
		t.Error("it was buffered")
	}
}

// Commits that are synced later are there for others at once, and durable with the next one that is not. The header of a
// log that starts anew is synced in any case.
func TestCommitsThatAreSyncedLater(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	c, other := logged(t, path, true), logged(t, path, false)
	commit := func(later bool, rowsAfter int64, syncs int, when string) {
		t.Helper()
		before := c.Syncs()
		c.SyncLater(later)
		exec(t, c, `BEGIN IMMEDIATE`)
		fill(t, c, 1)
		exec(t, c, `COMMIT`)
		if got := rows(t, other); got != rowsAfter || c.Syncs()-before != syncs {
			t.Errorf("%s: %d rows and %d syncs, want %d and %d", when, got, c.Syncs()-before, rowsAfter, syncs)
		}
	}
	commit(false, 1, 1, "at once")
	commit(true, 2, 0, "later")
	commit(true, 3, 0, "later again")
	commit(false, 4, 1, "at once after it")
	if _, _, err := other.Checkpoint(true); err != nil {
		t.Fatal(err)
	}
	commit(true, 5, 1, "the first of a log that starts anew")
	commit(true, 6, 0, "the second of it")
	before := c.Syncs()
	if _, _, err := c.Checkpoint(false); err != nil || c.Syncs() == before {
		t.Errorf("the log was copied before it was synced: %v", err)
	}
	commit(true, 7, 1, "the first after the copy")
	commit(true, 8, 0, "the second after it")
}

// TestASyncThatFails: the commit is not there, and can be made again when the disk is well and the log is mended. Nothing is
// committed until then, synced or not, whether commits before it were synced or not.
func TestASyncThatFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	c, other := logged(t, path, true), logged(t, path, false)
	commit := func(later bool) error { return tryCommit(t, c, later, 1) }
	want := func(n int64, when string) {
		t.Helper()
		if got := rows(t, other); got != n {
			t.Errorf("%s: %d rows, want %d", when, got, n)
		}
	}
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	failed := func(err error, when string) {
		t.Helper()
		var e *lite.Error
		if !errors.As(err, &e) || e.Primary() != lite.IOError {
			t.Errorf("%s: %v", when, err)
		}
	}
	ok(commit(false))
	mend := c.FailSyncs()
	failed(commit(false), "the disk fails")
	want(1, "the disk fails")
	mend()
	failed(commit(false), "the log is not mended")
	ok(c.MendLog())
	ok(commit(false))
	want(2, "the disk is well")

	ok(commit(true))
	mend = c.FailSyncs()
	failed(commit(false), "the disk fails behind what was not synced")
	if _, _, err := c.Checkpoint(false); err == nil {
		t.Error("the log was copied before it was synced")
	}
	mend()
	failed(commit(false), "nobody knows what is on the disk")
	failed(commit(true), "neither later")
	want(3, "nobody knows what is on the disk")
	if _, _, err := c.Checkpoint(false); err == nil {
		t.Error("the log was copied before it was mended")
	}
	ok(c.MendLog())
	ok(commit(true))
	ok(commit(false))
	want(5, "the log is mended")
}

// TestALogThatIsSyncedBesides: a sync that fails beside the connection's work is no less a failed one. Where the log still
// has what it was for, it can be mended. Where it has not, it is never copied, and who opens the file anew has all that was
// durable.
func TestALogThatIsSyncedBesides(t *testing.T) {
	for _, dropped := range []bool{false, true} {
		t.Run(fmt.Sprint("dropped: ", dropped), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log.db")
			c, err := lite.Open(path, lite.ReadWrite)
			if err != nil {
				t.Fatal(err)
			}
			exec(t, c, setUp)
			if err := c.BufferLog(); err != nil {
				t.Fatal(err)
			}
			commit := func(rows int) error { return tryCommit(t, c, true, rows) }
			for _, rows := range []int{1, 60, 2} {
				before := c.Syncs()
				if err := errors.Join(commit(rows), c.SyncLog()); err != nil || c.Syncs() != before+1 || c.Unsure() {
					t.Fatalf("%d syncs: %v", c.Syncs()-before, err)
				}
			}
			if err := commit(3); err != nil {
				t.Fatal(err)
			}
			if dropped {
				log, err := os.OpenFile(path+"-wal", os.O_RDWR, 0)
				if err != nil {
					t.Fatal(err)
				}
				defer log.Close()
				end := 32 + int64(c.Frames())*(24+number(t, c, `PRAGMA page_size`))
				if _, err := log.WriteAt([]byte("nothing of this was written"), end-100); err != nil {
					t.Fatal(err)
				}
			}
			mend := c.FailSyncs()
			err = c.SyncLog()
			mend()
			again := c.SyncLog()
			if err == nil || again == nil || !c.Unsure() {
				t.Errorf("%v, then %v; unsure: %v", err, again, c.Unsure())
			}
			if err := commit(1); err == nil {
				t.Error("something was committed behind it")
			}
			if err := c.MendLog(); (err == nil) == dropped || c.Unsure() != dropped || c.Broken() != dropped {
				t.Errorf("mending the log: %v; unsure: %v, broken: %v", err, c.Unsure(), c.Broken())
			}
			if _, _, err = c.Checkpoint(false); (err == nil) == dropped {
				t.Errorf("copying the log: %v", err)
			}
			want := int64(63)
			if !dropped {
				want += 4
				if err := errors.Join(commit(1), c.SyncLog()); err != nil {
					t.Error(err)
				}
			}
			if err := c.Close(); (err == nil) == dropped {
				t.Errorf("closing it: %v", err)
			}
			if got := rows(t, logged(t, path, false)); got != want {
				t.Errorf("%d rows, want %d", got, want)
			}
		})
	}
}

// The connection that is closed last copies the log, which is synced before.
func TestALogThatIsSyncedLaterIsSyncedAtTheEnd(t *testing.T) {
	c, err := lite.Open(filepath.Join(t.TempDir(), "log.db"), lite.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	exec(t, c, `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (x)`)
	if err := c.BufferLog(); err != nil {
		t.Fatal(err)
	}
	c.SyncLater(true)
	exec(t, c, `INSERT INTO t VALUES (1)`)
	before := c.Syncs()
	if err := c.Close(); err != nil || c.Syncs() != before+1 {
		t.Errorf("%d syncs, want 1: %v", c.Syncs()-before, err)
	}
}

// In a transaction that writes DataVersion is what the pragma says, whoever wrote before it and however that ended.
func TestDataVersionIsThatOfThePragma(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	c, other := logged(t, path, true), logged(t, path, false)
	version := func() int64 {
		t.Helper()
		exec(t, c, `BEGIN IMMEDIATE`)
		defer exec(t, c, `COMMIT`)
		got, want := c.DataVersion(), number(t, c, `PRAGMA data_version`)
		if got != want {
			t.Errorf("%d, the pragma says %d", got, want)
		}
		return got
	}
	before := version()
	for _, own := range []string{
		`INSERT INTO t (x) VALUES ('a')`, `BEGIN IMMEDIATE; INSERT INTO t (x) VALUES ('b'); ROLLBACK`,
		`BEGIN IMMEDIATE; SAVEPOINT s; INSERT INTO t (x) VALUES ('c'); ROLLBACK TO s; COMMIT`, `CREATE TABLE u (x)`, `VACUUM`,
	} {
		exec(t, c, own)
		if now := version(); now != before {
			t.Errorf("it went from %d to %d by the connection's own %s", before, now, own)
		}
	}
	for range 3 {
		exec(t, other, `INSERT INTO t (x) VALUES ('d')`)
		now := version()
		if now == before {
			t.Errorf("it is %d still after another connection wrote", now)
		}
		before = now
	}
}
