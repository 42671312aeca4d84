package sqlite_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestOpenSaysWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	garbage := in("letter.txt")
	if err := os.WriteFile(garbage, []byte(strings.Repeat("Dear sir or madam, ", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	rawSQL(t, in("other.db"), `CREATE TABLE recipes (name TEXT)`)
	closed(t, open(t, in("newer.db"), sqlite.Config{}))
	rawSQL(t, in("newer.db"), `INSERT INTO schema_migrations VALUES (99, 'future', 0)`)
	for name, test := range map[string]struct {
		path   string
		config sqlite.Config
		is     error
		says   string
	}{
		"no path":         {"", sqlite.Config{}, nil, "path: is empty; name a file"},
		"no folder":       {in("none/x.db"), sqlite.Config{}, fs.ErrNotExist, "the folder " + in("none") + " does not exist; make it first"},
		"a folder":        {dir, sqlite.Config{}, nil, "it is a folder; name a file in it"},
		"no database":     {garbage, sqlite.Config{}, store.ErrCorrupt, "turnstone doctor"},
		"another program": {in("other.db"), sqlite.Config{}, nil, "it is the database of another program; give another file name"},
		"newer schema":    {in("newer.db"), sqlite.Config{}, nil, "use a newer turnstone"},
		"bad sync":        {in("x.db"), sqlite.Config{Synchronous: "off"}, nil, "synchronous"},
		"negative":        {in("x.db"), sqlite.Config{Readers: -1}, nil, "use 0 for the default"},
	} {
		t.Run(name, func(t *testing.T) {
			before, err := os.ReadFile(test.path)
			if err != nil {
				before = nil // there is no file to leave alone
			}
			s, err := sqlite.Open(t.Context(), test.path, test.config)
			if err == nil {
				closed(t, s)
				t.Fatal("it was opened")
			}
			if before != nil {
				after, err := os.ReadFile(test.path)
				if err != nil || !bytes.Equal(before, after) {
					t.Errorf("the file was changed, %v", err)
				}
			}
			if test.is != nil && !errors.Is(err, test.is) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want one that says %q", err, test.says)
			}
			if test.path != "" && test.config.Synchronous == "" && test.config.Readers == 0 && !strings.Contains(err.Error(), test.path) {
				t.Errorf("%v does not name the file", err)
			}
		})
	}
	var newer *store.NewerSchemaError
	if _, err := sqlite.Open(t.Context(), in("newer.db"), sqlite.Config{}); !errors.As(err, &newer) || newer.Have != 99 {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(in("x.db")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a file was made before the configuration was checked")
	}
}

// rawSQL does to a file what a store never would.
func rawSQL(t testing.TB, path, sql string) {
	t.Helper()
	c, err := lite.Open(path, lite.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	c.BusyTimeout(60_000) // a store's own work in the background may be under way
	if err := errors.Join(c.Exec(sql), c.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestAClosedStoreIsOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "one.db")
	s := open(t, path, sqlite.Config{})
	k := create(t, s, key("s")).Key
	for range 100 {
		mustSay(t, s, k, strings.Repeat("word ", 100))
	}
	log(t, s, k) // opens a reader
	closed(t, s)
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(files) != 1 {
		t.Errorf("files %v, %v", files, err)
	}
	again := open(t, path, sqlite.Config{})
	if n := len(log(t, again, k)); n != 100 {
		t.Errorf("%d turns", n)
	}
}

func TestALockedFileIsWaitedForAndThenRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locked.db")
	s := open(t, path, sqlite.Config{BusyTimeout: 50 * time.Millisecond})
	k := create(t, s, key("s")).Key
	other, err := lite.Open(path, lite.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	other.BusyTimeout(60_000)
	if err := other.Exec(`BEGIN IMMEDIATE`); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	_, err = say(t.Context(), s, k, "too early")
	if !errors.Is(err, store.ErrLocked) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want ErrLocked", err)
	}
	if waited := time.Since(start); waited < 40*time.Millisecond {
		t.Errorf("gave up after %v", waited)
	}
	if n := len(log(t, s, k)); n != 0 {
		t.Errorf("%d turns", n)
	}
	if err := other.Exec(`COMMIT`); err != nil {
		t.Fatal(err)
	}
	mustSay(t, s, k, "now")
}

func TestOneStoreWaitsForAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shared.db")
	a, b := open(t, path, sqlite.Config{}), open(t, path, sqlite.Config{})
	k := create(t, a, key("s")).Key
	inside, release := make(chan struct{}), make(chan struct{})
	done := make(chan error)
	go func() {
		done <- a.Update(t.Context(), func(store.Tx) error {
			close(inside)
			<-release
			return nil
		})
	}()
	<-inside
	go func() {
		_, err := say(t.Context(), b, k, "waited")
		done <- err
	}()
	close(release)
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if n := len(log(t, a, k)); n != 1 {
		t.Errorf("%d turns", n)
	}
}

func TestADamagedPageIsAnErrorThatSaysWhatToDo(t *testing.T) {
	alone(t)
	path := filepath.Join(t.TempDir(), "damaged.db")
	s := open(t, path, sqlite.Config{})
	good, bad := create(t, s, key("good")).Key, create(t, s, key("bad")).Key
	mustSay(t, s, good, "short")
	for range 200 {
		mustSay(t, s, bad, strings.Repeat("long ", 500))
	}
	closed(t, s)
	damage(t, path)
	again := open(t, path, sqlite.Config{})
	_, err := readLog(t.Context(), again, bad)
	if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "turnstone doctor") {
		t.Errorf("got %v, want ErrCorrupt that names the file and the doctor", err)
	}
	if problems, err := again.Check(t.Context()); err != nil || len(problems) == 0 {
		t.Errorf("check: %v, %v", problems, err)
	}
	// What is whole can still be read and written.
	if turns, err := readLog(t.Context(), again, good); err != nil || len(turns) != 1 {
		t.Errorf("%d turns, %v", len(turns), err)
	}
	if _, err := say(t.Context(), again, good, "on"); err != nil {
		t.Error(err)
	}
}

// damage overwrites pages of turns.
func damage(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first := len(data) * 3 / 4
	for i := first; i < first+32<<10; i++ {
		data[i] = 0xa5
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestATurnThatCannotBeReadIsDamage(t *testing.T) {
	s := openNew(t, sqlite.Config{})
	k := create(t, s, key("s")).Key
	mustSay(t, s, k, "fine")
	mustSay(t, s, k, "broken")
	if err := s.Exec(t.Context(), `UPDATE turns SET content = '{"text":' WHERE seq = 2`); err != nil {
		t.Fatal(err)
	}
	if _, err := readLog(t.Context(), s, k); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("got %v, want ErrCorrupt", err)
	}
	// It keeps nothing after it out of the index.
	mustSay(t, s, k, "findable")
	if err := s.IndexText(t.Context()); err != nil {
		t.Fatal(err)
	}
	if hits := search(t, s, k, "findable"); len(hits) != 1 {
		t.Errorf("%d hits", len(hits))
	}
}

func search(t testing.TB, s store.Store, k turn.Key, text string) []turn.Turn {
	t.Helper()
	q, err := turn.Query{Text: text}.Compile()
	if err != nil {
		t.Fatal(err)
	}
	var page turn.Page
	err = s.View(t.Context(), func(tx store.Tx) error {
		info, err := tx.Log().Session(t.Context(), k)
		if err != nil {
			return err
		}
		page, err = q.Run(t.Context(), tx.Log(), info)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return page.Turns
}

func TestSynchronousNormalKeepsEverythingToo(t *testing.T) {
	alone(t)
	path := filepath.Join(t.TempDir(), "normal.db")
	s := open(t, path, sqlite.Config{Synchronous: sqlite.Normal})
	k := create(t, s, key("s")).Key
	for range 50 {
		mustSay(t, s, k, strings.Repeat("x", 3000))
	}
	closed(t, s)
	if n := len(log(t, open(t, path, sqlite.Config{}), k)); n != 50 {
		t.Errorf("%d turns", n)
	}
}

// SQLite does not wait by itself when it is to turn on the write-ahead log and cannot.
func TestAFileWithoutALogIsWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "old.db")
	closed(t, open(t, path, sqlite.Config{}))
	rawSQL(t, path, `PRAGMA journal_mode = DELETE`)
	writer, err := lite.Open(path, lite.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Exec(`BEGIN IMMEDIATE`); err != nil {
		t.Fatal(err)
	}
	released := make(chan error)
	time.AfterFunc(50*time.Millisecond, func() { released <- errors.Join(writer.Exec(`COMMIT`), writer.Close()) })
	opened := make(chan struct{})
	go func() {
		defer close(opened)
		s, err := sqlite.Open(t.Context(), path, sqlite.Config{})
		if err != nil {
			t.Error(err)
			return
		}
		closed(t, s)
	}()
	if err := <-released; err != nil {
		t.Error(err)
	}
	<-opened
}
