//go:build unix

package sqlite_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// takenAway are the ways in which the files of a store go away under it.
var takenAway = map[string]struct {
	do func(path string) error
	// there says that what was acknowledged before is found at the path by the next one that opens it.
	there bool
}{
	"the log is removed":    {func(path string) error { return os.Remove(path + "-wal") }, true},
	"the log is replaced":   {func(path string) error { return os.Rename(emptyFile(path+".other"), path+"-wal") }, true},
	"the index is removed":  {func(path string) error { return os.Remove(path + "-shm") }, true},
	"the file is removed":   {os.Remove, false},
	"the file is moved":     {func(path string) error { return os.Rename(path, path+".elsewhere") }, false},
	"the file is replaced":  {func(path string) error { return os.Rename(emptyFile(path+".other"), path) }, false},
	"the folder is removed": {func(path string) error { return os.RemoveAll(filepath.Dir(path)) }, false},
	"the folder is moved":   {func(path string) error { return os.Rename(filepath.Dir(path), filepath.Dir(path)+"-moved") }, false},
	"the folder is now a file": {func(path string) error {
		return errors.Join(os.RemoveAll(filepath.Dir(path)), os.WriteFile(filepath.Dir(path), nil, 0o600))
	}, false},
}

func emptyFile(path string) string {
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		panic(err)
	}
	return path
}

// Nothing is acknowledged that goes into a file which nobody finds again, and what was acknowledged before is not lost where
// there is still a file to have it in.
func TestFilesThatAreTakenAway(t *testing.T) {
	for name, test := range takenAway {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "folder", "test.db")
			if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			s := open(t, path, sqlite.Config{})
			k := create(t, s, key("s")).Key
			mustSay(t, s, k, "before")
			log(t, s, k) // so that somebody reads already
			if err := test.do(path); err != nil {
				t.Fatal(err)
			}
			for i := range 3 {
				if _, err := say(t.Context(), s, k, "after"); !errors.Is(err, store.ErrRemoved) {
					t.Errorf("update %d: %v", i, err)
				}
			}
			if seen := texts(log(t, s, k)); len(seen) == 0 || seen[0] != "before" {
				t.Errorf("%q can still be read", seen)
			}
			closed(t, s)
			if !test.there {
				return
			}
			again := open(t, path, sqlite.Config{})
			if seen := texts(log(t, again, k)); len(seen) == 0 || seen[0] != "before" {
				t.Errorf("%q is there for the next one", seen)
			}
			if problems, err := again.Check(t.Context()); err != nil || len(problems) > 0 {
				t.Errorf("check: %v, %v", problems, err)
			}
		})
	}
}

// Also updates that share a transaction, and those that are on their way to the disk while the next ones run.
func TestManyWhoseLogIsTakenAway(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	s := open(t, path, sqlite.Config{GroupCommit: 2})
	k := create(t, s, key("s")).Key
	s.SyncFlights(func(sync func() error) error {
		err := sync()
		os.Remove(path + "-wal") // the first takes it away
		return err
	})
	fine := func() error { return nil }
	var updates []func() error
	for i := range 8 {
		updates = append(updates, appending(t.Context(), s, k, fmt.Sprint("writer ", i), fine))
	}
	for i, err := range holding(t, s, updates...) {
		if !errors.Is(err, store.ErrRemoved) {
			t.Errorf("update %d: %v", i, err)
		}
	}
}

// Where only the log is gone, a killed process leaves in the file what was acknowledged.
func TestALogThatIsTakenAwayIsCopiedFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	s := open(t, path, sqlite.Config{})
	k := create(t, s, key("s")).Key
	var want []string
	for i := range 20 {
		want = append(want, fmt.Sprint("turn ", i))
		mustSay(t, s, k, want[i])
	}
	if err := os.Remove(path + "-wal"); err != nil {
		t.Fatal(err)
	}
	// What a kill leaves is the file as it is at that moment.
	copied := filepath.Join(t.TempDir(), "copy.db")
	eventually(t, "copying", func() bool {
		data, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(copied, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		left, err := sqlite.Open(t.Context(), copied, sqlite.Config{})
		if err != nil {
			return false
		}
		defer closed(t, left)
		seen, err := readLog(t.Context(), left, k)
		return err == nil && cmp.Equal(texts(seen), want)
	})
	if _, err := say(t.Context(), s, k, "after"); !errors.Is(err, store.ErrRemoved) || errors.Is(err, store.ErrUnknown) {
		t.Errorf("%v, although it was known before that the log is gone", err)
	}
}

// A store whose file was moved away leaves alone what another keeps under its name since.
func TestAMovedFileAndAnotherInItsPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	s := open(t, path, sqlite.Config{})
	k := create(t, s, key("s")).Key
	mustSay(t, s, k, "old")
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.Rename(path+end, path+".moved"+end); err != nil {
			t.Fatal(err)
		}
	}
	other := open(t, path, sqlite.Config{})
	otherKey := create(t, other, key("s")).Key
	mustSay(t, other, otherKey, "new")
	if _, err := say(t.Context(), s, k, "after"); !errors.Is(err, store.ErrRemoved) {
		t.Error(err)
	}
	closed(t, s)
	mustSay(t, other, otherKey, "newer")
	closed(t, other)
	if got := texts(log(t, open(t, path, sqlite.Config{}), k)); !cmp.Equal(got, []string{"new", "newer"}) {
		t.Errorf("%q", got)
	}
	if got := texts(log(t, open(t, path+".moved", sqlite.Config{}), k)); len(got) == 0 || got[0] != "old" {
		t.Errorf("moved: %q", got)
	}
}

// A name that leads to the file by a link is as good as its own, and a new name of the same file costs nothing.
func TestALinkToTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	closed(t, open(t, path, sqlite.Config{}))
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	s := open(t, link, sqlite.Config{})
	k := create(t, s, key("s")).Key
	if err := os.Link(path, path+".second"); err != nil {
		t.Fatal(err)
	}
	mustSay(t, s, k, "one")
	if err := os.Remove(path + "-wal"); err != nil {
		t.Fatal(err)
	}
	if _, err := say(t.Context(), s, k, "two"); !errors.Is(err, store.ErrRemoved) {
		t.Error(err)
	}
}

// What the system says of a write decides what is said of the store.
func TestWhyAWriteIsRefused(t *testing.T) {
	s := openNew(t, sqlite.Config{})
	for cause, want := range map[syscall.Errno]error{
		syscall.ENOSPC: store.ErrFull, syscall.EDQUOT: store.ErrFull, syscall.EROFS: store.ErrReadOnly, syscall.EIO: store.ErrUnavailable,
	} {
		if err := s.Failing(cause); !errors.Is(err, want) {
			t.Errorf("%v: %v", cause, err)
		}
	}
}
