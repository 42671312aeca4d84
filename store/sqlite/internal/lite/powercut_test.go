package lite_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// life is what a process and others do with a file, on a disk whose power may go at any moment.
type life struct {
	*testing.T
	*disk
	path   string
	c      *lite.Conn // writes
	copier *lite.Conn // of the same process
	reader *lite.Conn
	conns  []*lite.Conn // that are open
	health *lite.Health // what those of the process know
	reads  bool
	rows   []int // of each commit, 0 of those that failed
	known  int   // so many of them are known to be durable
	images int
}

func begin(t *testing.T, seed uint64) *life {
	t.Helper()
	l := &life{T: t, path: filepath.Join(t.TempDir(), "life.db"), health: &lite.Health{}}
	t.Cleanup(func() { // what is left to do is done on any disk
		if l.disk != nil {
			l.disk.fails, l.disk.before = func(bool) bool { return false }, func() {}
		}
		l.read(false)
		l.close(slices.Clone(l.conns)...)
	})
	l.c = l.open(lite.ReadWrite)
	exec(t, l.c, `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (id INTEGER PRIMARY KEY, txn INTEGER, x TEXT);
		CREATE TABLE last (txn INTEGER); INSERT INTO last VALUES (0)`)
	if err := l.c.BufferLog(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.c.Checkpoint(true); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(l.path)
	if err != nil {
		t.Fatal(err)
	}
	l.disk = newDisk(rand.New(rand.NewPCG(seed, 2)), file, nil)
	l.c.Use(l.disk.open())
	l.c.MendIn(4 * diskPage)
	l.copier, l.reader = l.open(lite.ReadWrite), l.open(lite.ReadOnly)
	for _, c := range []*lite.Conn{l.copier, l.reader} {
		exec(t, c, `PRAGMA synchronous = FULL`)
		number(t, c, `SELECT count(*) FROM t`)
	}
	l.copier.Use(l.disk.open())
	return l
}

func (l *life) open(mode lite.Mode) *lite.Conn {
	l.Helper()
	c, err := lite.Open(l.path, mode)
	if err != nil {
		l.Fatal(err)
	}
	c.Share(l.health)
	l.conns = append(l.conns, c)
	return c
}

func (l *life) close(conns ...*lite.Conn) {
	l.Helper()
	for _, c := range conns {
		l.conns = slices.DeleteFunc(l.conns, func(of *lite.Conn) bool { return of == c })
		l.ok(c.Close())
	}
	if _, err := os.Stat(l.path + "-wal"); errors.Is(err, fs.ErrNotExist) && l.disk != nil {
		l.disk.remove()
	}
}

// another is a process that opens the file, with the connection that writes.
func (l *life) another() {
	l.Helper()
	l.health = &lite.Health{}
	l.c = l.open(lite.ReadWrite)
	exec(l.T, l.c, `PRAGMA synchronous = FULL`)
	number(l.T, l.c, `SELECT count(*) FROM t`)
	l.ok(l.c.BufferLog())
	l.c.Use(l.disk.open())
}

func (l *life) commit(later bool, rows int) error {
	l.c.SyncLater(later)
	txn := len(l.rows) + 1
	l.rows = append(l.rows, 0)
	err := l.c.Exec(fmt.Sprintf(`BEGIN IMMEDIATE; UPDATE last SET txn = %d; UPDATE t SET x = upper(x) WHERE id %% 7 = 0`, txn))
	for range rows {
		if err == nil {
			err = l.c.Exec(fmt.Sprintf(`INSERT INTO t (txn, x) VALUES (%d, '%s')`, txn, strings.Repeat("x", l.rng.IntN(3000))))
		}
	}
	if err == nil {
		err = l.c.Exec(`COMMIT`)
	}
	if l.c.InTransaction() {
		exec(l.T, l.c, `ROLLBACK`)
	}
	if err != nil {
		return err
	}
	l.rows[txn-1] = rows
	if !later {
		l.known = txn
	}
	return nil
}

// mend makes what was committed durable, or fails.
func (l *life) mend() error {
	err := l.c.MendLog()
	if err == nil {
		l.known = len(l.rows)
	}
	return err
}

// copyBesides is what the background does.
func (l *life) copyBesides() error {
	if l.c.Unsure() {
		return nil
	}
	_, _, err := l.copier.Checkpoint(false)
	var e *lite.Error
	if errors.As(err, &e) && e.Primary() == lite.IOError {
		l.c.Doubt()
	}
	return err
}

// read has the reader begin or end.
func (l *life) read(begin bool) {
	l.Helper()
	if begin != l.reads {
		exec(l.T, l.reader, map[bool]string{true: `BEGIN; SELECT count(*) FROM t`, false: `COMMIT`}[begin])
		l.reads = begin
	}
}

// cut takes the power away and looks what is there: all that is known to be durable, nothing of later commits without those
// before them, and the file is whole.
func (l *life) cut() {
	l.Helper()
	l.images++
	image := filepath.Join(l.TempDir(), fmt.Sprint(l.images, ".db"))
	after := l.disk.cut()
	for i, name := range []string{image, image + "-wal"} {
		if err := os.WriteFile(name, after[i], 0o600); err != nil {
			l.Fatal(err)
		}
	}
	c, err := lite.Open(image, lite.ReadWrite)
	if err != nil {
		l.Fatal(err)
	}
	defer c.Close()
	whole(l.T, c)
	last := int(number(l.T, c, `SELECT txn FROM last`))
	for l.known > 0 && l.rows[l.known-1] == 0 {
		l.known--
	}
	if last < l.known {
		l.Errorf("%d commits are there, of %d that were durable", last, l.known)
	}
	counts := map[int]int{}
	q := c.Prepare(`SELECT txn, count(*) FROM t GROUP BY txn`)
	defer q.Close()
	for {
		more, err := q.Step()
		if err != nil {
			l.Fatal(err)
		}
		if !more {
			break
		}
		txn := int(q.ReadInt())
		counts[txn] = int(q.ReadInt())
	}
	for i, want := range l.rows {
		if got := counts[i+1]; i+1 <= last && want > 0 && got != want {
			l.Errorf("commit %d has %d rows, want %d: there are %d commits, %d were durable", i+1, got, want, last, l.known)
		}
	}
}

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

// ok is for what must not fail.
func (l *life) ok(errs ...error) {
	l.Helper()
	for i, err := range errs {
		if err != nil {
			l.Errorf("step %d: %v", i, err)
		}
	}
}

// failing has every sync of the file or of the log fail until it is mended.
func (l *life) failing(log bool) (mend func()) {
	l.fails = func(of bool) bool { return of == log }
	return func() { l.fails = func(bool) bool { return false } }
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

// TestALogIsMendedWhenNobodyReads: pages are not in the file for a moment then.
func TestALogIsMendedWhenNobodyReads(t *testing.T) {
	l := begin(t, 1)
	l.ok(l.commit(true, 20))
	mend := l.failing(true)
	if l.commit(false, 1) == nil {
		t.Error("it did not fail")
	}
	mend()
	l.read(true)
	var e *lite.Error
	if err := l.mend(); !errors.As(err, &e) || e.Primary() != lite.Busy || l.commit(true, 1) == nil || l.copyBesides() != nil {
		t.Errorf("while somebody reads: %v", err)
	}
	l.read(false)
	mend = l.failing(true)
	if l.commit(false, 1) == nil {
		t.Error("it did not fail")
	}
	mend()
	l.before = func() { l.read(true) } // when it is half done
	if err := l.mend(); !errors.As(err, &e) || e.Primary() != lite.Busy {
		t.Errorf("while somebody begins to read: %v", err)
	}
	l.before = func() {}
	l.read(false)
	l.ok(l.mend(), l.commit(false, 1))
	l.cut()
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

// TestALogIsMendedWhenItIsClosed: with the last connection all that was committed is on the disk, also what was to be synced
// later; and with one that is not the last.
func TestALogIsMendedWhenItIsClosed(t *testing.T) {
	for seed := range uint64(3) {
		for _, last := range []bool{false, true} {
			l := begin(t, seed)
			l.ok(l.commit(false, 1), l.commit(true, 20))
			mend := l.failing(true)
			if l.commit(false, 1) == nil {
				t.Error("it did not fail")
			}
			mend()
			if last {
				l.close(l.copier, l.reader)
			}
			l.close(l.c)
			l.known = len(l.rows)
			l.cut()
		}
	}
}

// TestALogThatTheDeadLeftIsMended: who opens the file is not told that a sync failed before, and what is committed behind what
// was lost then would be lost with it.
func TestALogThatTheDeadLeftIsMended(t *testing.T) {
	for seed := range uint64(3) {
		l := begin(t, seed)
		l.ok(l.commit(false, 1), l.commit(true, 20))
		mend := l.failing(true)
		if l.commit(false, 1) == nil {
			t.Error("it did not fail")
		}
		mend()
		l.another()
		l.ok(l.c.RenewLog(), l.commit(false, 1))
		l.known = len(l.rows)
		l.cut()
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

// TestALogIsWhereItWasWhileTheDiskIsFull: what cannot be written anew is not forgotten before.
func TestALogIsWhereItWasWhileTheDiskIsFull(t *testing.T) {
	for _, room := range []int64{0, 3 * 4120} {
		l := begin(t, 1)
		l.c.Use(&evicting{l.disk.open(), l.path})
		l.ok(l.commit(true, 20)) // nobody has synced it yet
		want := number(t, l.c, `SELECT count(*) FROM t`)
		mend := l.failing(true)
		if l.commit(false, 1) == nil {
			t.Error("it did not fail")
		}
		mend()
		mend = l.c.FullAt(room)
		if err := l.mend(); err == nil || !l.c.Unsure() || l.c.Broken() {
			t.Errorf("with room for %d: %v, unsure: %v, broken: %v", room, err, l.c.Unsure(), l.c.Broken())
		}
		if got := number(t, l.reader, `SELECT count(*) FROM t`); got != want {
			t.Errorf("%d rows, want %d", got, want)
		}
		mend()
		l.ok(l.mend(), l.commit(false, 1))
		whole(t, l.reader)
		l.cut()
	}
}
