package sqlite_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// loseWrites has all that this process writes to a file dropped, and its syncs fail, until it is mended.
func loseWrites(t *testing.T, path string) (mend func()) {
	t.Helper()
	nowhere, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer nowhere.Close()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	kept := make(map[int]int)
	for _, e := range open {
		if to, err := os.Readlink(filepath.Join("/proc/self/fd", e.Name())); err != nil || to != path {
			continue
		}
		fd, err := strconv.Atoi(e.Name())
		if err != nil {
			t.Fatal(err)
		}
		if kept[fd], err = syscall.Dup(fd); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Dup3(int(nowhere.Fd()), fd, syscall.O_CLOEXEC); err != nil {
			t.Fatal(err)
		}
	}
	if len(kept) == 0 {
		t.Fatalf("%s is not open", path)
	}
	return func() {
		for fd, copy := range kept {
			if err := errors.Join(syscall.Dup3(copy, fd, syscall.O_CLOEXEC), syscall.Close(copy)); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestADiskThatCannotSync: nothing is acknowledged that is not on the disk, and as soon as it is well again writing goes on.
// Whether commits before were synced or not, all of them are there in the end.
func TestADiskThatCannotSync(t *testing.T) {
	for _, owed := range []bool{false, true} {
		t.Run(fmt.Sprint("commits that are not synced yet: ", owed), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "test.db")
			s := open(t, path, sqlite.Config{})
			k := create(t, s, key("s")).Key
			mustSay(t, s, k, "before")
			want := []string{"before"}
			if owed {
				sealed, err := seal(turn.User, turn.Text{Text: "later"})
				if err == nil {
					err = s.Update(t.Context(), func(tx store.Tx) error {
						tx.SyncLater()
						_, err := turn.Append(t.Context(), tx.Log(), k, tx.Now(), sealed)
						return err
					})
				}
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, "later")
			}
			mend := loseWrites(t, path+"-wal")
			for range 2 {
				_, err := say(t.Context(), s, k, "never")
				if !errors.Is(err, store.ErrUnknown) && !errors.Is(err, store.ErrUnavailable) {
					t.Errorf("got %v", err)
				}
			}
			mend()
			mustSay(t, s, k, "after")
			want = append(want, "after")
			check := func(s *sqlite.Store) {
				t.Helper()
				if diff := cmp.Diff(want, texts(log(t, s, k))); diff != "" {
					t.Error(diff)
				}
			}
			check(s)
			closed(t, s)
			check(open(t, path, sqlite.Config{}))
		})
	}
}

// TestAFlightThatIsLost: nobody is told that it landed, nobody reads what came of it, and nothing is written on top. Who
// opens the store anew finds all that was acknowledged, and writing goes on.
func TestAFlightThatIsLost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	s := open(t, path, sqlite.Config{GroupCommit: 2})
	k := create(t, s, key("s")).Key
	mustSay(t, s, k, "before")
	mend := loseWrites(t, path+"-wal")
	never := func() error {
		_, err := say(t.Context(), s, k, "never")
		return err
	}
	refused := func(err error, when string) {
		t.Helper()
		if !errors.Is(err, store.ErrUnknown) && !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("%s: %v", when, err)
		}
	}
	for i, err := range holding(t, s, never, never, never) {
		refused(err, fmt.Sprint("update ", i))
	}
	mend()
	refused(never(), "the disk is well")
	s.CopyLog(t)
	err := s.View(t.Context(), func(store.Tx) error { return nil })
	refused(err, "reading")
	if err == nil || !strings.Contains(err.Error(), "start this program again") {
		t.Errorf("it does not say what to do: %v", err)
	}
	closed(t, s)
	s = open(t, path, sqlite.Config{})
	mustSay(t, s, k, "after")
	if diff := cmp.Diff([]string{"before", "after"}, texts(log(t, s, k))); diff != "" {
		t.Error(diff)
	}
}

// TestALogThatTheBackgroundCannotSync: the next sync of it would succeed, so it is mended first.
func TestALogThatTheBackgroundCannotSync(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	s := open(t, path, sqlite.Config{})
	k := create(t, s, key("s")).Key
	mustSay(t, s, k, "before")
	mend := func() {}
	if !s.FailToCopyLog(t, func() { mend = loseWrites(t, path+"-wal") }) {
		t.Error("nobody knows of it")
	}
	mend()
	mustSay(t, s, k, "after")
}
