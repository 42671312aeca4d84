//go:build unix

package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/turnstone-dev/turnstone/store/sqlite"
)

func TestAFileThatCannotBeWrittenTo(t *testing.T) {
	alone(t)
	for name, modes := range map[string]struct{ file, folder os.FileMode }{
		"the file":                {0o444, 0o777},
		"the folder":              {0o666, 0o555},
		"neither file nor folder": {0o444, 0o555},
	} {
		t.Run(name, func(t *testing.T) {
			folder := publicFolder(t)
			path := filepath.Join(folder, "test.db")
			s := open(t, path, sqlite.Config{})
			mustSay(t, s, create(t, s, key("s")).Key, "readable")
			closed(t, s)
			if err := errors.Join(os.Chmod(path, modes.file), os.Chmod(folder, modes.folder)); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := os.Chmod(folder, 0o700); err != nil {
					t.Error(err)
				}
			})
			asNobody(t, "read", path)
		})
	}
}

// A newer file is refused however it is opened, and an older one cannot be brought up to date.
func TestTheSchemaOfAFileThatCannotBeWrittenTo(t *testing.T) {
	alone(t)
	for name, test := range map[string]struct{ sql, says string }{
		"newer": {`INSERT INTO schema_migrations VALUES (99, 'future', 0)`, "use a newer turnstone"},
		"older": {`DELETE FROM schema_migrations`, "open it once where it can be written to"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := publicFolder(t)
			path := filepath.Join(folder, "test.db")
			closed(t, open(t, path, sqlite.Config{}))
			rawSQL(t, path, test.sql)
			if err := os.Chmod(path, 0o444); err != nil {
				t.Fatal(err)
			}
			refusedAsNobody(t, "read", path, test.says)
		})
	}
}

func TestAFolderThatCannotBeWrittenTo(t *testing.T) {
	alone(t)
	folder := publicFolder(t)
	if err := os.Chmod(folder, 0o555); err != nil {
		t.Fatal(err)
	}
	refusedAsNobody(t, "read", filepath.Join(folder, "new.db"), "allow this user to make files in "+folder)
}

func TestAFileThatCannotBeRead(t *testing.T) {
	alone(t)
	path := filepath.Join(publicFolder(t), "test.db")
	closed(t, open(t, path, sqlite.Config{}))
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	refusedAsNobody(t, "read", path, "allow this user to read and write it")
}

// A log that SQLite cannot use may hold what the file does not: it is not passed over, whatever the file is called.
func TestALogBesideAFileThatCannotBeWrittenTo(t *testing.T) {
	alone(t)
	live := filepath.Join(t.TempDir(), "test.db")
	s := open(t, live, sqlite.Config{})
	mustSay(t, s, create(t, s, key("s")).Key, "only in the log")
	folder := publicFolder(t)
	path, link := filepath.Join(folder, "test.db"), filepath.Join(publicFolder(t), "link.db")
	for _, end := range []string{"", "-wal"} {
		data, err := os.ReadFile(live + end)
		if err == nil {
			err = os.WriteFile(path+end, data, 0o444)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink(path, link), os.Chmod(folder, 0o555)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Chmod(folder, 0o700); err != nil {
			t.Error(err)
		}
	})
	for _, name := range []string{path, link} {
		refusedAsNobody(t, "read", name, "unable to open database file")
	}
}
