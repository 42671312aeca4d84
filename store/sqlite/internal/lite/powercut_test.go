package lite_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// TestPowerCuts: whatever fails before, with and without readers and commits that are to be synced later.
func TestPowerCuts(t *testing.T) {
	var mended, failed int
	for seed := range uint64(24) {
		for _, faults := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d, faults: %v", seed, faults), func(t *testing.T) {
				l := begin(t, seed)
				laters, reads := seed%2 == 0, seed%4 < 2
				exec(t, l.c, fmt.Sprintf(`PRAGMA cache_size = %d`, 5+l.rng.IntN(40)))
				l.fails = func(bool) bool { return faults && l.rng.IntN(8) == 0 }
				l.before = func() {
					if l.rng.IntN(150) == 0 {
						l.cut()
					}
				}
				for range 50 {
					if l.c.Unsure() && l.mend() == nil {
						mended++
					}
					switch n := l.rng.IntN(10); {
					case n < 2:
						l.c.Checkpoint(false)
					case n < 4:
						l.copyBesides()
					case n < 5:
						if l.c.SyncLog() == nil {
							l.known = len(l.rows)
						}
					case n < 6 && reads:
						l.read(!l.reads)
					default:
						l.commit(laters && l.rng.IntN(2) == 0, 1+l.rng.IntN(12))
					}
					if t.Failed() {
						return
					}
				}
				l.cut()
				failed += l.failed[0]
			})
		}
	}
	if mended < 20 || failed < 5 {
		t.Errorf("the log was mended %d times, and %d syncs of the file failed", mended, failed)
	}
}

// TestAPowerCutBehindAFailedSync: what is acknowledged after it is there, whether the commits before it were synced or not,
// and all is whole at any moment.
func TestAPowerCutBehindAFailedSync(t *testing.T) {
	for seed := range uint64(3) {
		for _, later := range []bool{false, true} {
			l := begin(t, seed)
			l.ok(l.commit(false, 20), l.commit(later, 20))
			mend := l.failing(true)
			if l.commit(false, 20) == nil || l.mend() == nil {
				t.Error("it did not fail")
			}
			l.cut()
			mend()
			l.before = func() {
				if l.rng.IntN(6) == 0 {
					l.cut()
				}
			}
			l.ok(l.mend(), l.commit(false, 2))
			if l.copyBesides() == nil {
				t.Error("the background was not told of the failure")
			}
			l.ok(l.mend(), l.copyBesides(), l.commit(false, 1))
			l.cut()
		}
	}
}

// TestAPowerCutBehindAFailedCopy: pages that an earlier copy wrote, up to a reader, are lost with a sync of the file, too, and
// copied again before the log begins anew.
func TestAPowerCutBehindAFailedCopy(t *testing.T) {
	for seed := range uint64(3) {
		l := begin(t, seed)
		l.ok(l.commit(false, 20))
		l.read(true)
		l.ok(l.commit(false, 20), l.copyBesides())
		l.read(false)
		mend := l.failing(false)
		if l.copyBesides() == nil {
			t.Error("it did not fail")
		}
		mend()
		for range 2 { // the next failure is that of the log, of which nobody knows that it is none
			l.ok(l.mend(), l.copyBesides())
		}
		l.ok(l.commit(false, 1), l.commit(false, 1)) // in a log that begins anew
		if l.c.Frames() > 20 {
			t.Errorf("the log has %d pages still", l.c.Frames())
		}
		l.cut()
	}
}

// TestAnotherCommitIsFoundInTheLog: what is left there of a commit that failed is not taken for the one that came after.
func TestAnotherCommitIsFoundInTheLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	c := logged(t, path, true)
	mend := c.FailSyncs()
	if tryCommit(t, c, false, 1) == nil {
		t.Error("it did not fail")
	}
	left, err := os.ReadFile(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	mend()
	if err := errors.Join(c.MendLog(), c.Exec(`BEGIN IMMEDIATE; INSERT INTO t (x) VALUES ('y'); COMMIT`)); err != nil {
		t.Fatal(err)
	}
	log, err := os.OpenFile(path+"-wal", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	have, err := os.ReadFile(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	c.Doubt()
	for _, found := range [][]byte{left, have} {
		if _, err := log.WriteAt(found, 0); err != nil {
			t.Fatal(err)
		}
		broken := &found[0] == &left[0]
		if err := c.MendLog(); (err != nil) != broken || c.Broken() != broken {
			t.Errorf("%v, broken: %v, want %v", err, c.Broken(), broken)
		}
	}
}

// TestAnEndBehindAFailedCopy: what the last connection would copy is not copied again from the beginning, so the log stays, and
// whoever opens the file next copies all of it.
func TestAnEndBehindAFailedCopy(t *testing.T) {
	for seed := range uint64(3) {
		for _, writer := range []bool{false, true} {
			l := begin(t, seed)
			l.ok(l.commit(false, 20))
			mend := l.failing(false)
			_, _, err := map[bool]*lite.Conn{false: l.copier, true: l.c}[writer].Checkpoint(false)
			if err == nil {
				t.Error("it did not fail")
			}
			if seed > 0 {
				mend()
			}
			l.close(l.reader, l.copier, l.c)
			l.cut()
			mend()
			l.another()
			l.c.DoubtFile()
			l.ok(l.c.RenewLog())
			_, _, err = l.c.Checkpoint(false)
			l.ok(err, l.commit(false, 1), l.commit(false, 1)) // in a log that begins anew
			if l.c.Frames() > 20 {
				t.Errorf("the log has %d pages still", l.c.Frames())
			}
			l.cut()
			l.close(l.c)
			l.cut()
		}
	}
}

// TestAnotherConnectionBehindAFailedCopy: one that is opened later knows of it too.
func TestAnotherConnectionBehindAFailedCopy(t *testing.T) {
	for seed := range uint64(3) {
		l := begin(t, seed)
		l.close(l.copier)
		l.ok(l.commit(false, 20))
		mend := l.failing(false)
		if _, _, err := l.c.Checkpoint(false); err == nil {
			t.Error("it did not fail")
		}
		mend()
		l.copier = l.open(lite.ReadWrite)
		exec(t, l.copier, `PRAGMA synchronous = FULL`)
		number(t, l.copier, `SELECT count(*) FROM t`)
		l.copier.Use(l.disk.open())
		l.ok(l.copyBesides(), l.commit(false, 1), l.commit(false, 1))
		if l.c.Frames() > 20 {
			t.Errorf("the log has %d pages still", l.c.Frames())
		}
		l.cut()
	}
}
