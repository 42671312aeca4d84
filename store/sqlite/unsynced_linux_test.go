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
	"time"

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

// soon says something as soon as the log was mended, which is not tried without a pause.
func soon(t *testing.T, s *sqlite.Store, k turn.Key, text string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		_, err := say(t.Context(), s, k, text)
		if err == nil {
			return
		}
		if !errors.Is(err, store.ErrUnavailable) || time.Now().After(deadline) {
			t.Fatal(err)
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
			err := s.View(t.Context(), func(store.Tx) error { return nil })
			if !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "start this program again") {
				t.Errorf("reading what is not there any more: %v", err)
			}
			mend()
			soon(t, s, k, "after")
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
	s, err := sqlite.Open(t.Context(), path, sqlite.Config{GroupCommit: 2})
	if err != nil {
		t.Fatal(err)
	}
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
	err = s.View(t.Context(), func(store.Tx) error { return nil })
	refused(err, "reading")
	if err == nil || !strings.Contains(err.Error(), "start this program again") {
		t.Errorf("it does not say what to do: %v", err)
	}
	refused(s.Close(), "closing it")
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
	soon(t, s, k, "after")
}
