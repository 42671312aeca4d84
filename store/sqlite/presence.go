package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/turnstone-dev/turnstone/internal/pause"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// presence tells other processes that this one has the store open: each has a lock on the log in common with the others, which
// the system takes away when the process ends, however it ends. Whoever can have it alone is the only one, and what anybody
// else holds in the store is held by the dead.
//
// HAZARD: closing a file gives up every lock of another kind that the process has on it, and SQLite's are of that kind. It
// has none on the log, only on the file and on the log's index. While a connection is open the log is not removed.
type presence struct {
	log *os.File // nil where it cannot be told
}

// errTaken says that another process has the lock in a way that rules ours out.
var errTaken = errors.New("the lock is taken")

// attend takes the lock, and where this process is the only one sets free what the dead held and has the log that they left
// on the disk again: a sync of it, or of what they copied, may have failed. It reports whether that is still to be done. Where
// the system or the disk has no such locks, nothing is known of others.
func (s *Store) attend(ctx context.Context, c *lite.Conn, left bool) (unsure bool, err error) {
	log, err := os.Open(s.logName())
	if err != nil {
		return false, nil
	}
	if lockFile(log, true) == nil {
		if left {
			c.DoubtFile()
			unsure = c.RenewLog() != nil
		}
		settle(c)
	}
	// Not every system changes a lock in one step, so another may be alone before this one has let it in.
	err = s.share(ctx, log)
	if err == nil {
		s.presence.log = log
		return unsure, nil
	}
	log.Close() // nothing was written
	if errors.Is(err, store.ErrLocked) || ctx.Err() != nil {
		return false, err
	}
	return unsure, nil
}

// logIsLeft reports whether there is a log with something in it: whoever ends in order leaves none.
func (s *Store) logIsLeft() bool {
	info, err := os.Stat(s.logName())
	return err == nil && info.Size() > 0
}

// logName is the file of the log: SQLite names it after the file that a link leads to.
func (s *Store) logName() string {
	path, err := filepath.EvalSymlinks(s.path)
	if err != nil {
		path = s.path
	}
	return path + "-wal"
}

// share has the lock in common with others. Who is alone has it for a moment only, and must be waited for: who went on
// without the lock would be dead to the next one that comes.
func (s *Store) share(ctx context.Context, log *os.File) error {
	for deadline := time.Now().Add(s.config.BusyTimeout); ; {
		err := lockFile(log, false)
		switch {
		case !errors.Is(err, errTaken):
			return err
		case time.Now().After(deadline):
			return fmt.Errorf("%w: another process is opening it; try again, or end that process: %w", store.ErrLocked, err)
		case !pause.For(ctx, time.Millisecond):
			return ctx.Err()
		}
	}
}

// migrateAlone sees to it that no other process has a file open that is about to be migrated: one of an older program would
// go on writing rows as it knows them, which then are in no index that it does not know. Free ends that.
func (s *Store) migrateAlone(ctx context.Context, c *lite.Conn) (free func(), err error) {
	known, err := migrations()
	if err != nil {
		return nil, err
	}
	log, err := os.Open(s.logName())
	if err != nil {
		return func() {}, nil // as in attend
	}
	free = func() { log.Close() } // nothing was written
	for deadline := time.Now().Add(s.config.BusyTimeout); ; {
		have, err := schema{s, c}.Version(ctx)
		if err != nil {
			free()
			return nil, newerSchema(err)
		}
		// What another process is migrating at this moment needs no migrating any more.
		if have == 0 || have >= len(known) || !errors.Is(lockFile(log, true), errTaken) {
			return free, nil
		}
		switch {
		case time.Now().After(deadline):
			free()
			return nil, fmt.Errorf("%w: its schema is version %d, this program needs %d, and another process has it open; end that process and try again",
				store.ErrLocked, have, len(known))
		case !pause.For(ctx, time.Millisecond):
			free()
			return nil, ctx.Err()
		}
	}
}

// settle sets free what the dead held. Should that fail, it becomes free when its time has run out.
func settle(c *lite.Conn) {
	if held(c) && c.Exec(setFree) != nil && c.InTransaction() {
		c.Exec(`ROLLBACK`)
	}
}

// held reports whether anybody holds anything, or did when he died.
func held(c *lite.Conn) bool {
	q := c.Prepare(`SELECT EXISTS (SELECT 1 FROM leases) OR EXISTS (SELECT 1 FROM relay WHERE holder <> '')
		OR EXISTS (SELECT 1 FROM daemons WHERE holder IS NOT NULL)`)
	defer q.Close()
	ok, err := q.Step()
	return err == nil && ok && q.ReadInt() != 0
}

const setFree = `BEGIN IMMEDIATE;
	DELETE FROM leases;
	UPDATE relay SET holder = '', until = 0 WHERE holder <> '';
	UPDATE daemons SET holder = NULL, until = NULL WHERE holder IS NOT NULL;
	COMMIT`

// leave gives the lock back.
func (p *presence) leave() error {
	if p.log == nil {
		return nil
	}
	return p.log.Close()
}
