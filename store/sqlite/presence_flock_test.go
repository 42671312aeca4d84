//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
	"github.com/turnstone-dev/turnstone/turn"
)

// holdings are who has the session's lease and the daemon's mark.
func holdings(t *testing.T, s *sqlite.Store) (lease, mark string) {
	t.Helper()
	err := s.View(t.Context(), func(tx store.Tx) error {
		l, err := tx.Log().Lease(t.Context(), key("held"))
		if err != nil {
			return err
		}
		m, _, err := tx.Outbox().Mark(t.Context(), "tail")
		lease, mark = l.Token, m.Holder
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return lease, mark
}

// TestWhatTheDeadHeldIsFree: who opens a store that nobody else has open need not wait for leases to run out; as long as
// another process, or another store of the same process, has it open, they hold.
func TestWhatTheDeadHeldIsFree(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	c := child(t.Context(), t, "hold for ever", path)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if line := bufio.NewScanner(out); !line.Scan() || line.Text() != "held" {
		t.Fatalf("the child says %q: %v", line.Text(), line.Err())
	}
	expect := func(s *sqlite.Store, when, wantLease, wantMark string) {
		t.Helper()
		if lease, mark := holdings(t, s); lease != wantLease || mark != wantMark {
			t.Errorf("%s: lease %q, mark %q, want %q and %q", when, lease, mark, wantLease, wantMark)
		}
	}
	beside := open(t, path, sqlite.Config{})
	expect(beside, "with its holder alive", "the child's", "the child")
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err == nil {
		t.Fatal("the child was not killed")
	}
	second := open(t, path, sqlite.Config{})
	expect(second, "with another that may know more", "the child's", "the child")
	if err := second.Close(); err != nil {
		t.Error(err)
	}
	if err := beside.Close(); err != nil {
		t.Error(err)
	}
	first := open(t, path, sqlite.Config{})
	expect(first, "alone", "", "")
	err = first.Update(t.Context(), func(tx store.Tx) error {
		_, err := turn.Acquire(t.Context(), tx.Log(), key("held"), "ours", tx.Now())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	expect(open(t, path, sqlite.Config{}), "beside the first, which lets others in", "ours", "")
}

// TestWhatTheDeadLeftInTheLogIsMended: a sync of it may have failed, and who opens the file is not told. Nobody mends it while
// another has it open, who was told. An end in order leaves none.
func TestWhatTheDeadLeftInTheLogIsMended(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	dead, left := open(t, path, sqlite.Config{}), filepath.Join(t.TempDir(), "left.db")
	create(t, dead, key("s"))
	for _, part := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + part)
		if err == nil {
			err = os.WriteFile(left+part, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	alone := open(t, left, sqlite.Config{})
	if n := alone.SyncsSoFar(); n < 2 {
		t.Errorf("the log was synced %d times before anything was written, want before and after it was written anew", n)
	}
	beside := open(t, left, sqlite.Config{})
	if n := beside.SyncsSoFar(); n != 0 {
		t.Errorf("with another that has it open it was synced %d times", n)
	}
	closed(t, beside)
	closed(t, alone)
	if _, err := os.Stat(left + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the next finds a log again: %v", err)
	}
}

// TestAReaderAtTheStartHoldsNobodyUp: that the dead left a log which nobody can write anew while somebody reads does not keep
// anybody from writing, and it is written anew when nobody reads any more.
func TestAReaderAtTheStartHoldsNobodyUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	first := open(t, path, sqlite.Config{})
	k := create(t, first, key("s")).Key
	reader, err := lite.Open(path, lite.ReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := reader.Exec(`BEGIN; SELECT count(*) FROM turns`); err != nil {
		t.Fatal(err)
	}
	mustSay(t, first, k, "before")
	closed(t, first)
	s := open(t, path, sqlite.Config{})
	mustSay(t, s, k, "while somebody reads")
	if !s.LogIsLeft() {
		t.Error("nobody knows that the log is to be written anew")
	}
	if err := reader.Exec(`COMMIT`); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); s.LogIsLeft(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the log is not written anew when nobody reads")
		}
	}
}

// TestALinkLeadsToTheSamePresence: who has the file open under another name is there all the same.
func TestALinkLeadsToTheSamePresence(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	first := open(t, path, sqlite.Config{}) // makes the file
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	linked := open(t, link, sqlite.Config{})
	create(t, linked, key("held"))
	err := linked.Update(t.Context(), func(tx store.Tx) error {
		_, err := turn.Acquire(t.Context(), tx.Log(), key("held"), "ours", tx.Now())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if lease, _ := holdings(t, open(t, path, sqlite.Config{})); lease != "ours" {
		t.Errorf("lease %q, want that of the store that is open", lease)
	}
}

// TestWhoCannotBeSeenDoesNotOpen: a store that others do not see would lose what it holds to the next one that comes.
func TestWhoCannotBeSeenDoesNotOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	raw, err := lite.Open(path, lite.ReadWrite) // as a process has it that is alone and has not let others in yet
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if err := raw.Exec(`PRAGMA journal_mode = WAL; CREATE TABLE t (x); DROP TABLE t`); err != nil {
		t.Fatal(err)
	}
	log, err := os.Open(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if err := syscall.Flock(int(log.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if s, err := sqlite.Open(t.Context(), path, sqlite.Config{BusyTimeout: 20 * time.Millisecond}); !errors.Is(err, store.ErrLocked) {
		t.Errorf("opened as %v, %v; want ErrLocked", s, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if s, err := sqlite.Open(ctx, path, sqlite.Config{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("opened as %v, %v; want the end of the context", s, err)
	}
	time.AfterFunc(20*time.Millisecond, func() { log.Close() })
	closed(t, open(t, path, sqlite.Config{}))
}

// TestAnOldFileIsMigratedByWhoIsAlone: as long as another process, which may be an older program's, has an old file open, it
// stays as it is.
func TestAnOldFileIsMigratedByWhoIsAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "old.db")
	other, err := lite.Open(path, lite.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := other.Exec(`PRAGMA journal_mode = WAL; ` + schemaOf(t, 9)); err != nil {
		t.Fatal(err)
	}
	present, err := os.Open(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	defer present.Close()
	if err := syscall.Flock(int(present.Fd()), syscall.LOCK_SH); err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(t.Context(), path, sqlite.Config{BusyTimeout: time.Millisecond})
	if err == nil {
		closed(t, s)
	}
	if !errors.Is(err, store.ErrLocked) || !strings.Contains(err.Error(), "version 9") {
		t.Errorf("while another has it open: %v", err)
	}
	if err := other.Exec(`INSERT INTO turns (tenant, segment, seq, turn_id, role, form, created_at, content)
		VALUES ('default', 1, 1, 'a', 'user', 'text', 0, '{"text":"late"}')`); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(present.Close(), other.Close()); err != nil {
		t.Fatal(err)
	}
	healthy(t, open(t, path, sqlite.Config{}))
}
