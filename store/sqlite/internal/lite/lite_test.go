package lite_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

func open(t testing.TB, path string, mode lite.Mode) *lite.Conn {
	t.Helper()
	c, err := lite.Open(path, mode)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return c
}

func openNew(t testing.TB, schema string) *lite.Conn {
	t.Helper()
	c := open(t, filepath.Join(t.TempDir(), "test.db"), lite.ReadWrite)
	exec(t, c, schema)
	return c
}

func exec(t testing.TB, c *lite.Conn, sql string) {
	t.Helper()
	if err := c.Exec(sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func run(t testing.TB, q *lite.Stmt) {
	t.Helper()
	if err := q.Run(); err != nil {
		t.Fatal(err)
	}
}

func number(t testing.TB, c *lite.Conn, sql string) int64 {
	t.Helper()
	q := c.Prepare(sql)
	defer q.Close()
	if _, err := q.Step(); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return q.ReadInt()
}

func TestValuesComeBackAsTheyWere(t *testing.T) {
	c := openNew(t, `CREATE TABLE v (id INTEGER PRIMARY KEY, x)`)
	values := []any{
		int64(0), int64(-1), int64(1<<63 - 1), "", "text", "Über 東京", strings.Repeat("long ", 100_000), nil,
		[]byte{}, []byte{0, 1, 255}, []byte(strings.Repeat("\x00", 300_000)),
	}
	for i, v := range values {
		run(t, c.Prepare(`INSERT INTO v VALUES (?, ?)`).Int(int64(i)).Value(v))
	}
	var got []any
	q := c.Prepare(`SELECT x FROM v ORDER BY id`)
	for {
		more, err := q.Step()
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			break
		}
		got = append(got, q.ReadValue())
	}
	if diff := cmp.Diff(values, got); diff != "" {
		t.Error(diff)
	}
	if n := number(t, c, `SELECT count(*) FROM v WHERE x IS NULL`); n != 1 {
		t.Errorf("%d nulls", n)
	}
}

func TestOneStatementHoldsManyTexts(t *testing.T) {
	c := openNew(t, `CREATE TABLE v (a, b, c, d)`)
	// Each is larger than what was kept for the one before.
	want := []string{"a", strings.Repeat("b", 700), strings.Repeat("c", 5000), strings.Repeat("d", 90_000)}
	for range 3 {
		run(t, c.Prepare(`INSERT INTO v VALUES (?, ?, ?, ?)`).Text(want[0]).Text(want[1]).Text(want[2]).Text(want[3]))
	}
	q := c.Prepare(`SELECT a, b, c, d FROM v`)
	for range 3 {
		if _, err := q.Step(); err != nil {
			t.Fatal(err)
		}
		got := []string{q.ReadText(), q.ReadText(), q.ReadText(), string(q.ReadBytes())}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	q.Close()
}

// lengthy is a text that says beforehand how long it will be.
type lengthy struct {
	text string
	n    int
}

func (l lengthy) Len() int                   { return l.n }
func (l lengthy) AppendTo(dst []byte) []byte { return append(dst, l.text...) }

func TestATextIsAsLongAsItSays(t *testing.T) {
	c := open(t, filepath.Join(t.TempDir(), "text.db"), lite.ReadWrite)
	for _, l := range []lengthy{{"", 0}, {"written in place", 16}, {strings.Repeat("long ", 20_000), 100_000}, {"short", 6}, {"too long", 7}} {
		s := c.Prepare(`SELECT ?, ?`).Text("before").TextOf(l)
		found, err := s.Step()
		if l.n != len(l.text) {
			if err == nil {
				t.Errorf("%.10q of %d bytes was bound", l.text, l.n)
			}
			continue
		}
		if err != nil || !found {
			t.Fatalf("%.10q: %v", l.text, err)
		}
		if before, text := s.ReadText(), s.ReadText(); before != "before" || text != l.text {
			t.Errorf("%q and %.10q came back as %q and %.10q", "before", l.text, before, text)
		}
		s.Close()
	}
}

func TestEmptyIsNotNullUnlessAskedFor(t *testing.T) {
	c := openNew(t, `CREATE TABLE v (a, b, c, d)`)
	run(t, c.Prepare(`INSERT INTO v VALUES (?, ?, ?, ?)`).Text("").TextOrNull("").Int(0).IntOrNull(0))
	q := c.Prepare(`SELECT a, b, c, d FROM v`)
	defer q.Close()
	if _, err := q.Step(); err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{false, true, false, true} {
		if got := q.IsNull(); got != want {
			t.Errorf("column %d: null %v, want %v", i, got, want)
		}
		q.Skip()
	}
}

func TestErrorsSayWhatSQLiteSays(t *testing.T) {
	c := openNew(t, `CREATE TABLE v (a UNIQUE, b NOT NULL)`)
	insert := func() *lite.Stmt { return c.Prepare(`INSERT INTO v VALUES (?, ?)`) }
	run(t, insert().Int(1).Int(1))
	for name, test := range map[string]struct {
		err   error
		says  string
		taken bool
	}{
		"taken":      {insert().Int(1).Int(2).Run(), "UNIQUE constraint failed: v.a", true},
		"null":       {insert().Int(2).Null().Run(), "NOT NULL constraint failed: v.b", false},
		"syntax":     {c.Prepare(`SELEKT`).Run(), `near "SELEKT": syntax error`, false},
		"many texts": {c.Exec(`INSERT INTO v VALUES (3, 3); INSERT INTO none VALUES (1)`), "no such table: none", false},
		"parameter":  {insert().Int(4).Int(4).Int(4).Run(), "out of range", false},
	} {
		var e *lite.Error
		if !errors.As(test.err, &e) || !strings.Contains(e.Error(), test.says) || e.Taken() != test.taken {
			t.Errorf("%s: got %v, want %q", name, test.err, test.says)
		}
	}
	if err := insert().Value(3.5).Int(1).Run(); err == nil || !strings.Contains(err.Error(), "float64") {
		t.Errorf("a value of another type: %v", err)
	}
	// After all that the statements work.
	run(t, insert().Int(5).Int(5))
	if n := number(t, c, `SELECT count(*) FROM v`); n != 3 {
		t.Errorf("%d rows", n)
	}
	exec(t, c, `CREATE TABLE late (x)`)
	late := func() error { return c.Prepare(`SELECT x FROM soon`).Run() }
	if late() == nil {
		t.Error("a table that is not there was read")
	}
	exec(t, c, `CREATE TABLE soon (x)`)
	if err := late(); err != nil {
		t.Errorf("a statement is not prepared again: %v", err)
	}
}

func TestFilesThatCannotBeOpened(t *testing.T) {
	folder := t.TempDir()
	for _, path := range []string{folder, filepath.Join(folder, "none", "x.db")} {
		_, err := lite.Open(path, lite.ReadWrite)
		var e *lite.Error
		if !errors.As(err, &e) || e.Primary() != lite.CantOpen {
			t.Errorf("%s: got %v", path, err)
		}
	}
	if _, err := lite.Open(filepath.Join(folder, "x.db"), lite.ReadOnly); err == nil {
		t.Error("a file that is not there was opened for reading")
	}
}

func TestNamesThatURLsWouldChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "it's 100% #1 & more.db")
	c, err := lite.Open(path, lite.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	exec(t, c, `CREATE TABLE v (x); INSERT INTO v VALUES (7)`)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []lite.Mode{lite.ReadOnly, lite.Immutable} {
		c := open(t, path, mode)
		if n := number(t, c, `SELECT x FROM v`); n != 7 {
			t.Errorf("read %d", n)
		}
		if c.Writable() {
			t.Error("it can be written to")
		}
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
		t.Errorf("files %v, %v", files, err)
	}
}

func TestAWatchedStatementEnds(t *testing.T) {
	c := openNew(t, ``)
	forever := `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n`
	ctx, cancel := context.WithCancel(t.Context())
	go cancel()
	c.Watch(ctx)
	err := c.Prepare(forever).Run()
	var e *lite.Error
	if !errors.As(err, &e) || e.Primary() != lite.Interrupt {
		t.Fatalf("got %v", err)
	}
	c.Unwatch()
	if n := number(t, c, `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5000) SELECT count(*) FROM n`); n != 5000 {
		t.Errorf("counted to %d", n)
	}
}

func TestCounts(t *testing.T) {
	c := openNew(t, `PRAGMA journal_mode = WAL; CREATE TABLE v (x INTEGER PRIMARY KEY, y)`)
	for i := range 5 {
		run(t, c.Prepare(`INSERT INTO v VALUES (?, 'y')`).Int(int64(10*i+10)))
	}
	run(t, c.Prepare(`UPDATE v SET y = 'z' WHERE x > 20`))
	if c.LastInsertID() != 50 || c.Changes() != 3 {
		t.Errorf("last %d, changes %d", c.LastInsertID(), c.Changes())
	}
	frames := c.Frames()
	if frames == 0 {
		t.Error("the log is empty")
	}
	exec(t, c, `BEGIN`)
	if !c.InTransaction() {
		t.Error("no transaction after BEGIN")
	}
	exec(t, c, `COMMIT`)
	if c.InTransaction() {
		t.Error("a transaction after COMMIT")
	}
	if n, copied, err := c.Checkpoint(false); err != nil || n != frames || copied != frames {
		t.Errorf("copied %d of %d pages, want %d: %v", copied, n, frames, err)
	}
	if n, _, err := c.Checkpoint(true); err != nil || n != 0 {
		t.Errorf("%d pages after emptying the log: %v", n, err)
	}
}

func BenchmarkInsert(b *testing.B) {
	c := openNew(b, `PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; CREATE TABLE v (a INTEGER PRIMARY KEY, b, c, d)`)
	text := strings.Repeat("x", 500)
	exec(b, c, `BEGIN`)
	b.ReportAllocs()
	for b.Loop() {
		run(b, c.Prepare(`INSERT INTO v (b, c, d) VALUES (?, ?, ?)`).Text("tenant").Int(7).Text(text))
	}
	exec(b, c, `ROLLBACK`)
}

func TestShrink(t *testing.T) {
	c := openNew(t, `CREATE TABLE t (x TEXT); INSERT INTO t VALUES (hex(randomblob(100000)))`)
	if freed := c.Shrink(); freed < 200_000 {
		t.Errorf("%d bytes", freed)
	}
	if freed := c.Shrink(); freed != 0 {
		t.Errorf("%d bytes a second time", freed)
	}
}
