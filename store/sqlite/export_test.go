package sqlite

import (
	"context"
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// Exec runs SQL on the writer's connection.
func (s *Store) Exec(ctx context.Context, sql string) error {
	return s.Update(ctx, func(st store.Tx) error { return s.translate(st.(*tx).c.Exec(sql)) })
}

// Number is what a query for one number answers.
func (s *Store) Number(t testing.TB, sql string) (n int64) {
	t.Helper()
	err := s.view(t.Context(), func(t *tx) (err error) {
		n, _, err = one(t, t.c.Prepare(sql), readInt)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Failing is what the store makes of a write that the system refused for that reason.
func (s *Store) Failing(cause syscall.Errno) error {
	return s.translate(&lite.Error{Code: lite.IOError, Message: "disk I/O error", Cause: cause})
}

// ShortenLog makes checkpoints come after so many pages.
func (s *Store) ShortenLog(copyAfter, tooLong int) {
	s.writer.log.copyAfter, s.writer.log.tooLong = copyAfter, tooLong
}

// LogBounds is after how many pages the log is copied, and from how many on it is too long.
func (s *Store) LogBounds() (copyAfter, tooLong int) {
	return s.writer.log.copyAfter, s.writer.log.tooLong
}

// LogPages is how many pages the log has, and how many the background has copied since it was last of use.
func (s *Store) LogPages() (length, copied int64) {
	return s.writer.log.written.Load(), s.writer.log.copied.Load()
}

// HoldIndex has nothing indexed until it is let go.
func (s *Store) HoldIndex() (letGo func()) {
	s.text.turn <- struct{}{}
	return func() { <-s.text.turn }
}

// NearlyCopied reports whether the writer copies what is left of a log, of which so much was copied.
func NearlyCopied(copyAfter, tooLong, frames, copied int, awaited bool) bool {
	k := checkpointer{copyAfter: copyAfter, tooLong: tooLong}
	k.copied.Store(int64(copied))
	return k.nearlyCopied(frames, awaited)
}

// Waiting is how many updates wait for the writer.
func (s *Store) Waiting() int { return len(s.writer.queue) }

// Doubt has the log mended before anything else is committed.
func (s *Store) Doubt() {
	s.writer.turn.Lock()
	defer s.writer.turn.Unlock()
	s.writer.c.Doubt()
}

// HoldFlights has each flight begin with hold.
func (s *Store) HoldFlights(hold func()) {
	s.SyncFlights(func(sync func() error) error {
		hold()
		return sync()
	})
}

// SyncFlights has flights synced by f, which is given how they are otherwise.
func (s *Store) SyncFlights(f func(sync func() error) error) {
	s.writer.inTurn(func() {
		s.writer.sync = func() error { return f(s.writer.c.SyncLog) }
	})
}

// SyncsSoFar is Syncs while the writer may be at work.
func (s *Store) SyncsSoFar() int { return s.writer.c.Syncs() }

// LogIsLeft reports whether the log that the dead left is still to be written anew.
func (s *Store) LogIsLeft() (left bool) {
	s.writer.inTurn(func() { left = s.writer.mending.left })
	return left
}

// Syncs is how often the writer's log was synced.
func (s *Store) Syncs() (n int) {
	s.writer.inTurn(func() { n = s.writer.c.Syncs() })
	return n
}

// Plans runs fn in a view and returns how SQLite carries out each statement it used.
func (s *Store) Plans(ctx context.Context, fn func(store.Tx) error) (map[string][]string, error) {
	plans := make(map[string][]string)
	err := s.view(ctx, func(t *tx) error {
		if err := fn(t); err != nil {
			return err
		}
		for _, sql := range t.c.Statements() {
			if !strings.HasPrefix(sql, "SELECT") {
				continue
			}
			q := t.c.Prepare("EXPLAIN QUERY PLAN " + sql)
			for {
				more, err := q.Step()
				if err != nil {
					return err
				}
				if !more {
					break
				}
				for range 3 {
					q.Skip()
				}
				plans[sql] = append(plans[sql], q.ReadText())
			}
		}
		return nil
	})
	return plans, err
}

// CopyLog copies the log as the background does.
func (s *Store) CopyLog(t testing.TB) {
	t.Helper()
	c, err := s.connect(lite.ReadWrite, s.writerPragmas())
	if err != nil {
		t.Fatal(err)
	}
	s.writer.log.catchUp(t.Context(), c)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

// FailToCopyLog is CopyLog on a disk that fails, and reports whether the writer has to mend the log now.
func (s *Store) FailToCopyLog(t testing.TB, fail func()) (unsure bool) {
	t.Helper()
	c, err := s.connect(lite.ReadWrite, s.writerPragmas())
	if err == nil {
		err = c.Exec(`SELECT count(*) FROM turns`) // with which it opens the log
	}
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fail()
	s.writer.log.catchUp(t.Context(), c)
	return s.writer.c.Unsure()
}

// EmptyLog copies the log into the file and begins it anew.
func (s *Store) EmptyLog(t testing.TB) {
	t.Helper()
	c, err := s.connect(lite.ReadWrite, s.writerPragmas())
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = c.Checkpoint(true)
	if err := errors.Join(err, c.Close()); err != nil {
		t.Fatal(err)
	}
}

// GiveClose has Close wait so long for what it still indexes, however slow the machine is.
func (s *Store) GiveClose(last time.Duration) { s.text.final = last }

// IndexSlowly indexes a piece, with something else between reading it and adding it. It reports
// whether somebody else had added it before.
func (s *Store) IndexSlowly(ctx context.Context, between func() error) (late bool, err error) {
	// The background must not do it first.
	s.text.turn <- struct{}{}
	defer func() { <-s.text.turn }()
	work, err := s.textBehind(ctx)
	if err != nil {
		return false, err
	}
	var piece []chapter
	err = s.view(ctx, func(t *tx) error {
		piece, _, err = t.readPiece(ctx, work)
		return err
	})
	if err := errors.Join(err, between()); err != nil {
		return false, err
	}
	err = s.Update(ctx, func(st store.Tx) error {
		late, err = st.(*tx).addPiece(ctx, piece)
		return err
	})
	return late, err
}

// ItemMark is how far the index of memory has come.
func (s *Store) ItemMark(t testing.TB) (mark int64) {
	t.Helper()
	err := s.view(t.Context(), func(t *tx) (err error) {
		mark, err = memoryRows{t}.itemMark()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return mark
}

// IndexItemsSlowly is IndexSlowly for memory.
func (s *Store) IndexItemsSlowly(ctx context.Context, between func() error) (late bool, err error) {
	s.text.turn <- struct{}{}
	defer func() { <-s.text.turn }()
	var piece itemPiece
	err = s.view(ctx, func(t *tx) error {
		piece, err = memoryRows{t}.readPiece(ctx, 1<<60)
		return err
	})
	if err := errors.Join(err, between()); err != nil {
		return false, err
	}
	err = s.Update(ctx, func(st store.Tx) error {
		late, err = memoryRows{st.(*tx)}.addPiece(ctx, piece)
		return err
	})
	return late, err
}

// TakeOverRelay makes another process the one that publishes, or nobody.
func (s *Store) TakeOverRelay(ctx context.Context, holder string) error {
	return s.Update(ctx, func(st store.Tx) error {
		return st.(*tx).c.Prepare(`UPDATE relay SET holder = ?`).Text(holder).Run()
	})
}

// TakeOverRelayUntil is TakeOverRelay by one whose lease ends then, and who syncs nothing.
func (s *Store) TakeOverRelayUntil(ctx context.Context, holder string, until time.Time) error {
	return s.Update(ctx, func(st store.Tx) error {
		st.SyncLater()
		return st.(*tx).c.Prepare(`UPDATE relay SET holder = ?, until = ?`).Text(holder).Int(micros(until)).Run()
	})
}

// RenewOften makes who publishes renew the lease all the time.
func (s *Store) RenewOften() { s.relay.renewal = time.Millisecond }

// RelayUntil is the end of the lease of who publishes.
func (s *Store) RelayUntil(t testing.TB) (until time.Time) {
	t.Helper()
	err := s.view(t.Context(), func(t *tx) error {
		us, _, err := one(t, t.c.Prepare(`SELECT until FROM relay`), readInt)
		until = fromMicros(us)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return until
}

// SweptPast counts the observations that a sweep at that time looks at.
func (s *Store) SweptPast(t testing.TB, at time.Time) (n int64) {
	t.Helper()
	err := s.view(t.Context(), func(t *tx) (err error) {
		n, _, err = one(t, t.c.Prepare(`SELECT count(*) FROM observations WHERE sweep_at <= ?`).Int(micros(at)), readInt)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// LookAround has the writer begin a transaction, give it up, and look around as it does in a rest. It returns how many bytes
// of memory each look gave back.
func (s *Store) LookAround() (freed [2 * restAfter]int, err error) {
	s.writer.turn.Lock()
	defer s.writer.turn.Unlock()
	if err := s.writer.begin(); err != nil {
		return freed, err
	}
	s.writer.rollback()
	for i := range freed {
		freed[i] = s.writer.rest()
	}
	return freed, nil
}

// ForgetSlowly forgets something and makes it go, with something else after the file was written anew.
func (s *Store) ForgetSlowly(ctx context.Context, forget, between func() error) error {
	// The background must not do it first.
	s.text.turn <- struct{}{}
	defer func() { <-s.text.turn }()
	if err := forget(); err != nil {
		return err
	}
	for {
		pages, more, err := s.forgetWords(ctx)
		switch {
		case err != nil:
			return err
		case !more:
			return errors.New("nothing was forgotten")
		case len(pages) > 0:
			if between == nil { // it ends here, before the file is written anew
				return nil
			}
			return errors.Join(s.rewriteFile(ctx), between(), s.pagesGone(ctx, pages))
		}
	}
}

// Copying returns those of the statements that insert several rows which have SQLite gather all of them in a table of their own
// before it inserts the first.
func (s *Store) Copying(ctx context.Context) (copying []string, err error) {
	err = s.Update(ctx, func(st store.Tx) error {
		t := st.(*tx)
		for _, statements := range [][]string{insertTurns, placeTurns, insertItems, insertParts} {
			for _, sql := range statements[1:] {
				steps, err := all(t, t.c.Prepare("EXPLAIN "+sql), func(q *lite.Stmt) string {
					q.Skip()
					return q.ReadText()
				})
				if err != nil {
					return err
				}
				if slices.Contains(steps, "OpenEphemeral") {
					copying = append(copying, sql)
				}
			}
		}
		return nil
	})
	return copying, err
}

// AtOnce is how many of the turns one statement inserts.
var AtOnce = atOnce
