//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sqlite_test

import (
	"bufio"
	"os"
	"path/filepath"
	"testing"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
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
