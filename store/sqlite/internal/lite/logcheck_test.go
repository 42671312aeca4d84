package lite_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// later commits rows that are to be synced later.
func later(t *testing.T, c *lite.Conn, rows int) {
	t.Helper()
	c.SyncLater(true)
	exec(t, c, `BEGIN IMMEDIATE`)
	fill(t, c, rows)
	exec(t, c, `COMMIT`)
}

// copyAll copies all of the log.
func copyAll(t *testing.T, c *lite.Conn) {
	t.Helper()
	if frames, copied, err := c.Checkpoint(false); err != nil || copied != frames {
		t.Fatalf("%d of %d pages were copied: %v", copied, frames, err)
	}
}

// TestALogIsFoundIntact: whatever its pages are and however often it began anew, a log is intact as long as it has all that
// was committed to it, and no longer.
func TestALogIsFoundIntact(t *testing.T) {
	const header = 32 + 24
	for _, page := range []int64{512, 4096, 8192, 65536} {
		for _, restarts := range []int{0, 1, 3} {
			t.Run(fmt.Sprintf("pages of %d, begun anew %d times", page, restarts), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "log.db")
				c := open(t, path, lite.ReadWrite)
				exec(t, c, fmt.Sprintf(`PRAGMA page_size = %d; %s`, page, setUp))
				if err := c.BufferLog(); err != nil {
					t.Fatal(err)
				}
				for i := range restarts {
					later(t, c, 400/(i+1)) // so that each leaves pages behind the end of the next
					copyAll(t, c)
				}
				later(t, c, 3)
				info, err := os.Stat(path + "-wal")
				if err != nil {
					t.Fatal(err)
				}
				if got := (info.Size() - 32) / (page + 24); restarts > 0 && got <= int64(c.Frames()) {
					t.Fatalf("the log has %d pages, of which %d are in use", got, c.Frames())
				}
				log, err := os.OpenFile(path+"-wal", os.O_RDWR, 0)
				if err != nil {
					t.Fatal(err)
				}
				defer log.Close()
				look := func(want bool, when string) {
					t.Helper()
					mend := c.FailSyncs()
					defer mend()
					err := errors.Join(c.SyncLog(), c.MendLog())
					if err == nil || !c.Unsure() || c.Broken() == want {
						t.Errorf("%s: %v, intact: %v", when, err, !c.Broken())
					}
				}
				look(true, "nothing is missing")
				last := 32 + int64(c.Frames()-1)*(page+24)
				for where, at := range map[string]int64{
					"the header": 13, "the first page": header + 7, "a frame's salts": 32 + 9, "the last page": last + 24 + page - 1, "the last sum": last + 23,
				} {
					var was [1]byte
					if _, err := log.ReadAt(was[:], at); err != nil {
						t.Fatal(err)
					}
					if _, err := log.WriteAt([]byte{was[0] ^ 0x40}, at); err != nil {
						t.Fatal(err)
					}
					look(false, where+" is another")
					if _, err := log.WriteAt(was[:], at); err != nil {
						t.Fatal(err)
					}
				}
				look(true, "all is as it was")
				if _, err := log.WriteAt([]byte("of no use any more"), last+24+page+30); err != nil {
					t.Fatal(err)
				}
				look(true, "what is behind the end is another")
			})
		}
	}
}

// TestALogThatOthersBeganAnew: what was in it is in the file, so that nothing of it can be lost any more.
func TestALogThatOthersBeganAnew(t *testing.T) {
	for name, restart := range map[string]func(t *testing.T, other *lite.Conn){
		"copied": func(t *testing.T, other *lite.Conn) { copyAll(t, other) },
		"and written to": func(t *testing.T, other *lite.Conn) {
			copyAll(t, other)
			exec(t, other, `INSERT INTO t (x) VALUES (1)`)
		},
		"and emptied": func(t *testing.T, other *lite.Conn) {
			if _, _, err := other.Checkpoint(true); err != nil {
				t.Fatal(err)
			}
		},
		"and written to longer": func(t *testing.T, other *lite.Conn) { copyAll(t, other); fill(t, other, 300) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log.db")
			c, other := logged(t, path, true), logged(t, path, false)
			later(t, c, 60)
			restart(t, other)
			want := rows(t, other)
			c.SyncLater(false)
			mend := c.FailSyncs()
			exec(t, c, `BEGIN IMMEDIATE`)
			fill(t, c, 1)
			err := c.Exec(`COMMIT`)
			if c.InTransaction() {
				exec(t, c, `ROLLBACK`)
			}
			mend()
			if err == nil || c.Broken() {
				t.Errorf("a commit that is not synced: %v, something was lost: %v", err, c.Broken())
			}
			if err := c.MendLog(); err != nil || c.Unsure() {
				t.Errorf("the disk is well: %v, unsure: %v", err, c.Unsure())
			}
			later(t, c, 1)
			if err := c.SyncLog(); err != nil {
				t.Error(err)
			}
			if got := rows(t, other); got != want+1 {
				t.Errorf("%d rows, want %d", got, want+1)
			}
		})
	}
}

// TestASyncThatFailsBehindOthers: what another process wrote and has not synced yet may be lost with it, and what is committed
// behind that would be, too, when the machine stops. So the log is mended first, as after commits of one's own.
func TestASyncThatFailsBehindOthers(t *testing.T) {
	for name, before := range map[string]func(t *testing.T, c, other *lite.Conn){
		"behind one's own":         func(t *testing.T, c, other *lite.Conn) { later(t, c, 2); _ = c.SyncLog(); later(t, other, 2) },
		"before one's first":       func(t *testing.T, _, other *lite.Conn) { later(t, other, 2) },
		"in a log that they began": func(t *testing.T, c, other *lite.Conn) { later(t, c, 60); copyAll(t, c); later(t, other, 2) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log.db")
			c, other := logged(t, path, true), logged(t, path, true)
			before(t, c, other)
			commit := func() error { return tryCommit(t, c, false, 1) }
			want := rows(t, other)
			mend := c.FailSyncs()
			err := commit()
			mend()
			if err == nil || !c.Unsure() || c.Broken() {
				t.Errorf("%v, unsure: %v, broken: %v", err, c.Unsure(), c.Broken())
			}
			if err := commit(); err == nil {
				t.Error("something was committed behind what may be lost")
			}
			if err := c.MendLog(); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := commit(); err != nil {
					t.Error(err)
				}
			}
			if got := rows(t, other); got != want+2 {
				t.Errorf("%d rows, want %d", got, want+2)
			}
		})
	}
}
