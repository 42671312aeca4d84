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
