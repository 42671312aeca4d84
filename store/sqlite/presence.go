package sqlite

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/turnstone-dev/turnstone/internal/pause"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// presence tells other processes that this one has the store open: each has a lock on the log in common with the others, which
// the system takes away when the process ends, however it ends. Whoever can have it alone is the only one, and what anybody
// else holds in the store is held by the dead.
//
// HAZARD: closing a file gives up every lock of another kind that the process has on it, and SQLite's are of that kind. It
// has none on the log, only on the file and on the log's index. While a connection is open the log is not removed.
type presence struct {
	log   *os.File // nil where it cannot be told
	alone bool
}

// errTaken says that another process has the lock in a way that rules ours out.
var errTaken = errors.New("the lock is taken")

// attend takes the lock, alone where that can be. Where the system or the disk has none, nothing is known of others.
func (s *Store) attend(ctx context.Context) (p presence) {
	log, err := os.Open(s.path + "-wal")
	if err != nil {
		return p
	}
	if err := lockFile(log, true); err == nil {
		return presence{log, true}
	}
	// Who is alone has it for a moment only.
	for deadline := time.Now().Add(s.config.BusyTimeout); ; {
		err := lockFile(log, false)
		if err == nil {
			return presence{log: log}
		}
		if !errors.Is(err, errTaken) || time.Now().After(deadline) || !pause.For(ctx, time.Millisecond) {
			log.Close() // nothing was written
			return p
		}
	}
}

// settle sets free what the dead held, where this process is the only one, and lets others in. Should that fail, it becomes
// free when its time has run out.
func (s *Store) settle(c *lite.Conn) {
	if !s.presence.alone {
		return
	}
	if held(c) && c.Exec(setFree) != nil && c.InTransaction() {
		c.Exec(`ROLLBACK`)
	}
	lockFile(s.presence.log, false)
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
