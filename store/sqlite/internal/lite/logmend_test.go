package lite_test

import (
	"errors"
	"testing"

	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// TestALogIsMendedWhenNobodyReads: pages are not in the file for a moment then.
func TestALogIsMendedWhenNobodyReads(t *testing.T) {
	l := begin(t, 1)
	l.ok(l.commit(true, 20))
	mend := l.failing(true)
	if l.commit(false, 1) == nil {
		t.Error("it did not fail")
	}
	mend()
	l.read(true)
	var e *lite.Error
	if err := l.mend(); !errors.As(err, &e) || e.Primary() != lite.Busy || l.commit(true, 1) == nil || l.copyBesides() != nil {
		t.Errorf("while somebody reads: %v", err)
	}
	l.read(false)
	mend = l.failing(true)
	if l.commit(false, 1) == nil {
		t.Error("it did not fail")
	}
	mend()
	l.before = func() { l.read(true) } // when it is half done
	if err := l.mend(); !errors.As(err, &e) || e.Primary() != lite.Busy {
		t.Errorf("while somebody begins to read: %v", err)
	}
	l.before = func() {}
	l.read(false)
	l.ok(l.mend(), l.commit(false, 1))
	l.cut()
}

// TestALogIsMendedWhenItIsClosed: with the last connection all that was committed is on the disk, also what was to be synced
// later; and with one that is not the last.
func TestALogIsMendedWhenItIsClosed(t *testing.T) {
	for seed := range uint64(3) {
		for _, last := range []bool{false, true} {
			l := begin(t, seed)
			l.ok(l.commit(false, 1), l.commit(true, 20))
			mend := l.failing(true)
			if l.commit(false, 1) == nil {
				t.Error("it did not fail")
			}
			mend()
			if last {
				l.close(l.copier, l.reader)
			}
			l.close(l.c)
			l.known = len(l.rows)
			l.cut()
		}
	}
}

// TestALogThatTheDeadLeftIsMended: who opens the file is not told that a sync failed before, and what is committed behind what
// was lost then would be lost with it.
func TestALogThatTheDeadLeftIsMended(t *testing.T) {
	for seed := range uint64(3) {
		l := begin(t, seed)
		l.ok(l.commit(false, 1), l.commit(true, 20))
		mend := l.failing(true)
		if l.commit(false, 1) == nil {
			t.Error("it did not fail")
		}
		mend()
		l.another()
		l.ok(l.c.RenewLog(), l.commit(false, 1))
		l.known = len(l.rows)
		l.cut()
	}
}

// TestALogIsWhereItWasWhileTheDiskIsFull: what cannot be written anew is not forgotten before.
func TestALogIsWhereItWasWhileTheDiskIsFull(t *testing.T) {
	for _, room := range []int64{0, 3 * 4120} {
		l := begin(t, 1)
		l.c.Use(&evicting{l.disk.open(), l.path})
		l.ok(l.commit(true, 20)) // nobody has synced it yet
		want := number(t, l.c, `SELECT count(*) FROM t`)
		mend := l.failing(true)
		if l.commit(false, 1) == nil {
			t.Error("it did not fail")
		}
		mend()
		mend = l.c.FullAt(room)
		if err := l.mend(); err == nil || !l.c.Unsure() || l.c.Broken() {
			t.Errorf("with room for %d: %v, unsure: %v, broken: %v", room, err, l.c.Unsure(), l.c.Broken())
		}
		if got := number(t, l.reader, `SELECT count(*) FROM t`); got != want {
			t.Errorf("%d rows, want %d", got, want)
		}
		mend()
		l.ok(l.mend(), l.commit(false, 1))
		whole(t, l.reader)
		l.cut()
	}
}
