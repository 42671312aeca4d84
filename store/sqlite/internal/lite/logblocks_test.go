package lite_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// A log grows by whole blocks, with zeros behind its pages, and is written over in place once it starts anew.
func TestALogGrowsByBlocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	c := logged(t, path, true)
	page := 24 + number(t, c, `PRAGMA page_size`)
	length := func() int64 {
		t.Helper()
		log, err := os.ReadFile(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		end := 32 + int64(c.Frames())*page
		if len(log)%(64<<10) != 0 || int64(len(log)) < end || int64(len(log)) >= end+64<<10 {
			t.Errorf("the log has %d bytes, %d of them of pages", len(log), end)
		}
		if len(bytes.Trim(log[end:], "\x00")) > 0 {
			t.Errorf("behind byte %d are no zeros", end)
		}
		return int64(len(log))
	}
	for _, n := range []int{1, 1, 30, 7, 300} {
		if err := tryCommit(t, c, false, n); err != nil {
			t.Fatal(err)
		}
		length()
	}
	grown := length()
	if _, _, err := c.Checkpoint(false); err != nil {
		t.Fatal(err)
	}
	if err := tryCommit(t, c, false, 1); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path + "-wal"); err != nil || info.Size() != grown {
		t.Errorf("%v: the log that starts anew has %d bytes, want %d as before", err, info.Size(), grown)
	}
	for _, who := range []*lite.Conn{c, logged(t, path, false)} {
		if _, _, err := who.Checkpoint(true); err != nil {
			t.Fatal(err)
		}
		if err := tryCommit(t, c, false, 1); err != nil {
			t.Fatal(err)
		}
		if now := length(); now != 64<<10 {
			t.Errorf("the log that was emptied has %d bytes", now)
		}
	}
}

// Whatever two connections do with a log, one through the buffer, those who take over after a crash find every commit whole.
func TestALogInBlocksAfterACrash(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			dir := t.TempDir()
			path := filepath.Join(dir, "log.db")
			c, other := logged(t, path, true), logged(t, path, false)
			exec(t, c, fmt.Sprintf(`PRAGMA cache_size = %d`, 5+rng.IntN(40))) // so that pages are written before the commit
			var want int64
			for step := range 25 {
				n := 1 + rng.IntN(60)
				switch rng.IntN(6) {
				case 0:
					exec(t, c, `BEGIN IMMEDIATE`)
					fill(t, c, n)
					exec(t, c, `ROLLBACK`)
				case 1:
					if err := tryCommit(t, other, false, n); err != nil {
						t.Fatal(err)
					}
					want += int64(n)
				case 2:
					if _, _, err := []*lite.Conn{c, other}[rng.IntN(2)].Checkpoint(false); err != nil {
						t.Fatal(err)
					}
				case 3: // pages that are written twice
					exec(t, c, `BEGIN IMMEDIATE`)
					fill(t, c, n)
					exec(t, c, `UPDATE t SET x = `+flipped+` WHERE id % 5 = 0; SAVEPOINT s`)
					fill(t, c, n)
					exec(t, c, `ROLLBACK TO s; UPDATE t SET x = `+flipped+` WHERE id % 3 = 0; COMMIT`)
					want += int64(n)
				default:
					if err := tryCommit(t, c, rng.IntN(2) == 0, n); err != nil {
						t.Fatal(err)
					}
					want += int64(n)
				}
				after := crashed(t, path, filepath.Join(dir, fmt.Sprint(step, ".db")))
				if got := rows(t, after); got != want {
					t.Fatalf("step %d: %d rows, want %d", step, got, want)
				}
				whole(t, after)
			}
		})
	}
}

// flipped is another text of the same length: where nothing changes SQLite writes no page.
const flipped = `CASE x WHEN upper(x) THEN lower(x) ELSE upper(x) END`

// A log that starts anew writes over nothing of the one before until its header is on the disk: whatever the disk has of the
// header's block when the machine stops there, all that was copied is whole.
func TestALogThatStartsAnewBesideAnother(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log.db")
	other := logged(t, path, false)
	if _, _, err := other.Checkpoint(true); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 1, 1, 1, 20} {
		if err := tryCommit(t, other, false, n); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := other.Checkpoint(false); err != nil {
		t.Fatal(err)
	}
	read := func(path string) []byte {
		t.Helper()
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	before, c := read(path+"-wal"), logged(t, path, true)
	var file, log []byte
	c.BeforeSync(func() {
		if log == nil {
			file, log = read(path), read(path+"-wal")
		}
	})
	if err := tryCommit(t, c, false, 1); err != nil {
		t.Fatal(err)
	}
	for size := 4 << 10; size <= 64<<10; size += 4 << 10 {
		torn, as := bytes.Clone(log), filepath.Join(dir, fmt.Sprint("torn", size))
		copy(torn, before[:size])
		for name, data := range map[string][]byte{as: file, as + "-wal": torn} {
			if err := os.WriteFile(name, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		after := open(t, as, lite.ReadWrite)
		if got := rows(t, after); got != 24 {
			t.Errorf("with %d bytes of the old log: %d rows, want 24", size, got)
		}
		whole(t, after)
	}
}

// A commit for which the disk has no room is not there after a crash either, wherever in its block the room ended. One whose
// pages fit is made.
func TestADiskThatIsFullBehindThePages(t *testing.T) {
	refused, made := 0, 0
	for limit := int64(64 << 10); limit <= 128<<10; limit += 4 << 10 {
		dir := t.TempDir()
		path := filepath.Join(dir, "log.db")
		c := logged(t, path, true)
		if err := tryCommit(t, c, false, 10); err != nil {
			t.Fatal(err)
		}
		mend := c.FullAt(limit)
		err := tryCommit(t, c, false, 8)
		mend()
		want := int64(18)
		if made++; err != nil {
			want = 10
			made--
			refused++
		}
		after := crashed(t, path, filepath.Join(dir, "after.db"))
		if here, there := rows(t, c), rows(t, after); here != want || there != want {
			t.Errorf("full at %d: %v: %d rows, after a crash %d, want %d", limit, err, here, there, want)
		}
	}
	if refused < 3 || made < 3 {
		t.Errorf("%d commits were refused and %d made", refused, made)
	}
}

// Pages that did not fit into memory are changed again, of a log that is longer already than the disk lets it be filled up.
func TestADiskThatIsFullBehindPagesThatAreWrittenTwice(t *testing.T) {
	refused, made := 0, 0
	for _, early := range []bool{false, true} {
		for _, limit := range []int64{124 << 10, 188 << 10, 252 << 10} {
			for n := int64(1); n < 40; n += 3 {
				dir := t.TempDir()
				path := filepath.Join(dir, "log.db")
				c, other := logged(t, path, true), logged(t, path, false)
				if err := tryCommit(t, c, false, 10); err != nil {
					t.Fatal(err)
				}
				exec(t, c, `PRAGMA cache_size = 5`)
				mend := c.FullAt(limit)
				err := c.Exec(`BEGIN IMMEDIATE`)
				for range n {
					if err == nil {
						err = c.Exec(`INSERT INTO t (x) VALUES ('` + strings.Repeat("y", 3000) + `')`)
					}
				}
				if early {
					mend()
				}
				if err == nil {
					err = c.Exec(`UPDATE t SET x = ` + flipped + ` WHERE id % 3 = 0; COMMIT`)
				}
				if c.InTransaction() {
					exec(t, c, `ROLLBACK`)
				}
				mend()
				want := 10 + n
				if made++; err != nil {
					want = 10
					made--
					refused++
				}
				for name, who := range map[string]*lite.Conn{"here": c, "beside": other, "after a crash": crashed(t, path, filepath.Join(dir, "after.db"))} {
					if got := rows(t, who); got != want {
						t.Errorf("%d rows, full at %d, mended early %v: %v: %d rows %s, want %d", n, limit, early, err, got, name, want)
					}
					whole(t, who)
				}
				if _, _, err := c.Checkpoint(false); err != nil {
					t.Error(err)
				}
				whole(t, other)
			}
		}
	}
	if refused < 5 || made < 5 {
		t.Errorf("%d transactions were refused and %d made", refused, made)
	}
}

// Where nobody knows how long the file is, nothing of the log before is written over by the header of the next.
func TestALogThatStartsAnewInAFileOfUnknownLength(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	c := logged(t, path, true)
	if err := tryCommit(t, c, false, 30); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Checkpoint(false); err != nil {
		t.Fatal(err)
	}
	read := func() []byte {
		t.Helper()
		log, err := os.ReadFile(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		return log
	}
	const header = 32
	before := read()
	var first []byte
	c.HideLength()
	c.BeforeSync(func() {
		if first == nil {
			first = read()
		}
	})
	if err := tryCommit(t, c, false, 1); err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(first[:header], before[:header]) || !bytes.Equal(first[header:], before[header:]) {
		t.Error("the header was not written first, and by itself")
	}
}

// whole complains about a file that is damaged.
func whole(t *testing.T, c *lite.Conn) {
	t.Helper()
	if bad := number(t, c, `SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'`); bad > 0 {
		t.Errorf("the file is damaged in %d ways", bad)
	}
}

// crashed opens what is left of the file when the process is gone.
func crashed(t *testing.T, path, as string) *lite.Conn {
	t.Helper()
	for _, part := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + part)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(as+part, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return open(t, as, lite.ReadWrite)
}
