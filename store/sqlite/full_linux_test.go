package sqlite_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// smallDisk is a file system of so many bytes. Only root may make one; others test the same with a
// bound on the number of pages.
func smallDisk(t *testing.T, size int) string {
	t.Helper()
	folder := t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		t.Skipf("no small file system can be made here (%v); TestALostTransactionIsMadeAgainWithoutTheOneToBlame stands for it", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return folder
}

func TestAFullDisk(t *testing.T) {
	folder := smallDisk(t, 4<<20)
	path := filepath.Join(folder, "full.db")
	filler := filepath.Join(folder, "filler")
	if err := os.WriteFile(filler, make([]byte, 2<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, path, sqlite.Config{GroupCommit: 2})
	k := create(t, s, key("s")).Key
	var want []string
	var err error
	for i := 0; err == nil; i++ {
		text := fmt.Sprintf("turn %d %s", i, strings.Repeat("x", 5000))
		if _, err = say(t.Context(), s, k, text); err == nil {
			want = append(want, text)
		}
	}
	if !errors.Is(err, store.ErrFull) || !strings.Contains(err.Error(), path) {
		t.Fatalf("got %v after %d turns, want ErrFull that names the file", err, len(want))
	}
	if len(want) < 10 {
		t.Fatalf("full after %d turns", len(want))
	}
	check := func(s *sqlite.Store) {
		t.Helper()
		if diff := cmp.Diff(want, texts(log(t, s, k))); diff != "" {
			t.Error(diff)
		}
		if problems, err := s.Check(t.Context()); err != nil || len(problems) > 0 {
			t.Errorf("check: %v, %v", problems, err)
		}
	}
	check(s)
	for range 5 { // and again, and nothing gets worse
		if _, err := say(t.Context(), s, k, strings.Repeat("y", 50_000)); !errors.Is(err, store.ErrFull) {
			t.Errorf("got %v, want ErrFull", err)
		}
	}
	tooMuch := func() error {
		_, err := say(t.Context(), s, k, strings.Repeat("z", 50_000))
		return err
	}
	for i, err := range holding(t, s, tooMuch, tooMuch, tooMuch) {
		if !errors.Is(err, store.ErrFull) {
			t.Errorf("update %d of several at once: got %v, want ErrFull", i, err)
		}
	}
	check(s)

	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	mustSay(t, s, k, "room again")
	want = append(want, "room again")
	check(s)
	closed(t, s)
	check(open(t, path, sqlite.Config{}))
}

func TestADiskThatIsFullFromTheStart(t *testing.T) {
	folder := smallDisk(t, 64<<10)
	path := filepath.Join(folder, "none.db")
	s, err := sqlite.Open(t.Context(), path, sqlite.Config{})
	if err == nil {
		closed(t, s)
		t.Fatal("it was opened")
	}
	if !errors.Is(err, store.ErrFull) {
		t.Errorf("got %v, want ErrFull", err)
	}
}

// A copy that finds no room says which device is full: the one it is made on.
func TestACopyOnAFullDisk(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "source.db"), sqlite.Config{})
	mustSay(t, s, create(t, s, key("s")).Key, strings.Repeat("x", 500_000))
	copied := filepath.Join(smallDisk(t, 64<<10), "copy.db")
	err := s.Backup(t.Context(), copied)
	if !errors.Is(err, store.ErrFull) || !strings.Contains(err.Error(), "make room on the device of "+copied+": ") {
		t.Errorf("got %v", err)
	}
}

// Several that fit one by one do not fit together: the transaction of all cannot be committed, and
// everybody is told the truth.
func TestManyFillADisk(t *testing.T) {
	path := filepath.Join(smallDisk(t, 3<<20), "full.db")
	s := open(t, path, sqlite.Config{})
	k := create(t, s, key("s")).Key
	fine := func() error { return nil }
	var said []string
	var updates []func() error
	for i := range 16 {
		said = append(said, fmt.Sprintf("writer %d %s", i, strings.Repeat("x", 300_000)))
		updates = append(updates, appending(t.Context(), s, k, said[i], fine))
	}
	var want []string
	refused := 0
	for i, err := range holding(t, s, updates...) {
		switch {
		case err == nil:
			want = append(want, said[i])
		case errors.Is(err, store.ErrFull):
			refused++
		default:
			t.Errorf("got %v, want ErrFull", err)
		}
	}
	if len(want) < 2 || refused < 2 {
		t.Errorf("%d were made and %d refused", len(want), refused)
	}
	closed(t, s)
	got := texts(log(t, open(t, path, sqlite.Config{}), k))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("acknowledged, and there:\n%.2000s", diff)
	}
}
