package sqlmigrate_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/internal/sqlmigrate"
)

func files(names ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for _, name := range names {
		fsys[name] = &fstest.MapFile{Data: []byte("-- " + name)}
	}
	return fsys
}

func load(t *testing.T, names ...string) []sqlmigrate.Migration {
	t.Helper()
	migrations, err := sqlmigrate.Load(files(names...))
	if err != nil {
		t.Fatal(err)
	}
	return migrations
}

func TestLoadReadsInOrder(t *testing.T) {
	got := load(t, "0002_goals_2.sql", "0001_log.sql", "0003_memory.sql")
	want := []sqlmigrate.Migration{
		{Version: 1, Name: "log", SQL: "-- 0001_log.sql"},
		{Version: 2, Name: "goals_2", SQL: "-- 0002_goals_2.sql"},
		{Version: 3, Name: "memory", SQL: "-- 0003_memory.sql"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got[1].String() != "0002_goals_2" {
		t.Errorf("called %s", got[1])
	}
}

func TestLoadRefuses(t *testing.T) {
	tests := []struct {
		name  string
		files []string
		want  string
	}{
		{"none", nil, "list of migrations: there are none"},
		{"gap", []string{"0001_a.sql", "0003_c.sql"}, "migration 0003_c.sql: its number must be 0002, without gaps or repeats"},
		{"repeat", []string{"0001_a.sql", "0001_b.sql"}, "migration 0001_b.sql: its number must be 0002, without gaps or repeats"},
		{"zero", []string{"0000_a.sql"}, "migration 0000_a.sql: its number must be 0001, without gaps or repeats"},
		{"late start", []string{"0002_a.sql"}, "migration 0002_a.sql: its number must be 0001, without gaps or repeats"},
		{"short number", []string{"1_a.sql"}, "migration 1_a.sql: name it like 0001_name.sql"},
		{"no name", []string{"0001_.sql"}, "migration 0001_.sql: name it like 0001_name.sql"},
		{"no number", []string{"log.sql"}, "migration log.sql: name it like 0001_name.sql"},
		{"another file", []string{"0001_a.sql", "0002_b.sql.orig"}, "migration 0002_b.sql.orig: name it like 0001_name.sql"},
		{"folder", []string{"migrations/0001_a.sql"}, "migration migrations: name it like 0001_name.sql"},
		{"folder named like a file", []string{"0001_a.sql/x"}, "migration 0001_a.sql: read 0001_a.sql: invalid argument"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := sqlmigrate.Load(files(tt.files...))
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestLoadReportsAFolderThatCannotBeRead(t *testing.T) {
	_, err := sqlmigrate.Load(os.DirFS(filepath.Join(t.TempDir(), "none")))
	if !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), "list of migrations: ") {
		t.Errorf("got %v", err)
	}
}

// database is the shared state behind any number of connections.
type database struct {
	migrating sync.Mutex // held by the connection that migrates

	mu      sync.Mutex // guards all below
	applied []string
	crash   string // the migration whose transaction is rolled back
}

var errCrash = errors.New("crash")

// connection is one process's way to a database.
type connection struct {
	*database
	locks, unlocks int
	locked         bool
	afterVersion   func()
	lockErr        error
	unlockErr      error
	versionErrs    []error // for the first calls
}

func (c *connection) Version(context.Context) (int, error) {
	if len(c.versionErrs) > 0 {
		err := c.versionErrs[0]
		if c.versionErrs = c.versionErrs[1:]; err != nil {
			return 0, err
		}
	}
	c.mu.Lock()
	n := len(c.applied)
	c.mu.Unlock()
	if c.afterVersion != nil {
		c.afterVersion()
	}
	return n, nil
}

func (c *connection) Lock(context.Context) (func() error, error) {
	c.locks++
	if c.lockErr != nil {
		return nil, c.lockErr
	}
	c.migrating.Lock()
	c.locked = true
	return func() error {
		c.unlocks++
		c.locked = false
		c.migrating.Unlock()
		return c.unlockErr
	}, nil
}

func (c *connection) Apply(_ context.Context, m sqlmigrate.Migration) error {
	if !c.locked {
		return errors.New("applied without the lock")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.Version != len(c.applied)+1 {
		return errors.New("applied out of order")
	}
	if m.String() == c.crash {
		return errCrash
	}
	c.applied = append(c.applied, m.String())
	return nil
}

func TestRunAppliesWhatIsMissing(t *testing.T) {
	all := []string{"0001_a", "0002_b", "0003_c"}
	migrations := load(t, "0001_a.sql", "0002_b.sql", "0003_c.sql")
	for have := range len(all) + 1 {
		c := &connection{database: &database{applied: slices.Clone(all[:have])}}
		if err := sqlmigrate.Run(t.Context(), c, migrations); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(all, c.applied); diff != "" {
			t.Errorf("from version %d: %s", have, diff)
		}
		wantLocks := 1
		if have == len(all) {
			wantLocks = 0
		}
		if c.locks != wantLocks || c.unlocks != wantLocks {
			t.Errorf("from version %d: locked %d times, unlocked %d times, want %d", have, c.locks, c.unlocks, wantLocks)
		}
	}
}

func TestRunGoesOnAfterACrash(t *testing.T) {
	migrations := load(t, "0001_a.sql", "0002_b.sql", "0003_c.sql")
	c := &connection{database: &database{crash: "0002_b"}}
	err := sqlmigrate.Run(t.Context(), c, migrations)
	if !errors.Is(err, errCrash) || err.Error() != "migration 0002_b: crash" {
		t.Fatalf("got %v", err)
	}
	if diff := cmp.Diff([]string{"0001_a"}, c.applied); diff != "" {
		t.Error(diff)
	}
	if c.unlocks != 1 {
		t.Error("the lock was kept after an error")
	}
	c.crash = ""
	if err := sqlmigrate.Run(t.Context(), c, migrations); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"0001_a", "0002_b", "0003_c"}, c.applied); diff != "" {
		t.Error(diff)
	}
}

func TestRunRefusesANewerDatabase(t *testing.T) {
	c := &connection{database: &database{applied: []string{"0001_a", "0002_b", "0003_c"}}}
	err := sqlmigrate.Run(t.Context(), c, load(t, "0001_a.sql", "0002_b.sql"))
	var newer *sqlmigrate.NewerError
	if !errors.As(err, &newer) || *newer != (sqlmigrate.NewerError{Have: 3, Know: 2}) {
		t.Fatalf("got %v", err)
	}
	if want := "the database has schema version 3 and this program knows versions up to 2; upgrade the program"; err.Error() != want {
		t.Errorf("got %s", err)
	}
	if c.locks != 0 {
		t.Error("a newer database was locked")
	}
}

// TestRunAtOnce lets every process see an empty database before any may lock it.
func TestRunAtOnce(t *testing.T) {
	const processes = 8
	migrations := load(t, "0001_a.sql", "0002_b.sql", "0003_c.sql")
	shared := &database{}
	var looked, done sync.WaitGroup
	looked.Add(processes)
	for range processes {
		c := &connection{database: shared}
		var once sync.Once
		c.afterVersion = func() { once.Do(func() { looked.Done(); looked.Wait() }) }
		done.Go(func() {
			if err := sqlmigrate.Run(t.Context(), c, migrations); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	if diff := cmp.Diff([]string{"0001_a", "0002_b", "0003_c"}, shared.applied); diff != "" {
		t.Error(diff)
	}
}

// TestRunMeetsANewerProgram has a newer program migrate while this one waits for
// the lock.
func TestRunMeetsANewerProgram(t *testing.T) {
	c := &connection{database: &database{}}
	c.afterVersion = func() {
		if c.locks == 0 {
			c.applied = []string{"0001_a", "0002_b"}
		}
	}
	err := sqlmigrate.Run(t.Context(), c, load(t, "0001_a.sql"))
	var newer *sqlmigrate.NewerError
	if !errors.As(err, &newer) || c.unlocks != 1 {
		t.Errorf("got %v after %d unlocks", err, c.unlocks)
	}
}

func TestRunReportsWhatWentWrong(t *testing.T) {
	broken := errors.New("broken")
	tests := []struct {
		name string
		c    connection
		want string
	}{
		{"version", connection{versionErrs: []error{broken}}, "schema version: broken"},
		{"lock", connection{lockErr: broken}, "lock for migrations: broken"},
		{"version behind the lock", connection{versionErrs: []error{nil, broken}}, "schema version: broken"},
		{"unlock", connection{unlockErr: broken}, "unlock after migrations: broken"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.c.database = &database{}
			err := sqlmigrate.Run(t.Context(), &tt.c, load(t, "0001_a.sql"))
			if !errors.Is(err, broken) || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			if tt.c.locked {
				t.Error("the lock was kept")
			}
		})
	}
}

func TestRunReportsTheMigrationAndTheUnlock(t *testing.T) {
	broken := errors.New("broken")
	c := &connection{database: &database{crash: "0001_a"}, unlockErr: broken}
	err := sqlmigrate.Run(t.Context(), c, load(t, "0001_a.sql"))
	if !errors.Is(err, errCrash) || !errors.Is(err, broken) {
		t.Errorf("got %v, want both errors", err)
	}
}
