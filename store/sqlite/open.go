package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/pause"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// Open opens the store in a file, and makes the file where there is none, for its owner alone to read
// and write; its folder must be there. ctx bounds the opening only.
//
// A file that cannot be written to is opened for reading: updates then return store.ErrReadOnly. A
// file of a newer program is refused with a *store.NewerSchemaError, one that is damaged with
// store.ErrCorrupt, one that another process holds for longer than Config.BusyTimeout with
// store.ErrLocked.
func Open(ctx context.Context, path string, config Config) (*Store, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	if path == "" {
		return nil, fmt.Errorf("open store: %w", invalid.New("path", "is empty", "name a file"))
	}
	// SQLite would take the folder of the moment at each opening of a connection.
	if path, err = filepath.Abs(path); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	s := &Store{path: path, config: config, light: dialogue.NewLight(config.LightTimeout, config.Clock)}
	s.readers = newPool(config.Readers, s.connectReader)
	s.text = newIndexer(s)
	s.relay = newPublisher(s)
	makePrivate(path)
	if err := s.start(ctx); err != nil {
		return nil, fmt.Errorf("open store %s: %w", path, s.translate(err))
	}
	return s, nil
}

// making is held while a new file is made. Closing a file gives up every lock that the process has on
// it, so no other Open may have it open by then.
var making sync.Mutex

// makePrivate makes a file that is not there, so that nobody but its owner can read what is said in
// it. SQLite gives the files beside it the same mode. Where that cannot be done SQLite says why.
func makePrivate(path string) {
	making.Lock()
	defer making.Unlock()
	if f, err := createPrivate(path); err == nil {
		f.Close() // nothing was written
	}
}

func createPrivate(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

// start opens the file and starts what works in the background.
func (s *Store) start(ctx context.Context) error {
	left := s.logIsLeft()
	c, err := s.connectFirst(ctx)
	if err != nil {
		return err
	}
	page, err := pageSizeOf(c)
	if err != nil {
		return errors.Join(err, c.Close())
	}
	if s.mode == lite.ReadWrite {
		if left, err = s.attend(ctx, c, left); err != nil {
			return errors.Join(err, c.Close())
		}
	}
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stopWork = stop
	if s.mode != lite.ReadWrite {
		s.readers.add(c)
		return nil
	}
	s.files.remember(s.path, s.logName())
	s.writer = newWriter(s, c, page)
	s.writer.mending.left = left
	s.writer.look()
	s.generation.Store(0)
	go s.writer.run()
	s.background.Go(func() { s.writer.log.run(work) })
	s.background.Go(func() { s.text.run(work) })
	s.text.lookAtAll()
	return nil
}

// connectFirst opens the connection that finds out what the file allows and makes it ready. It
// becomes the writer's, or a reader's if the file cannot be written to.
func (s *Store) connectFirst(ctx context.Context) (*lite.Conn, error) {
	c, err := s.openFile(lite.ReadWrite)
	if err != nil {
		return nil, s.explain(err)
	}
	if c.Writable() {
		err = s.prepareFile(ctx, c)
		if err == nil {
			return c, nil
		}
	}
	err = errors.Join(err, c.Close())
	if err == nil || code(err) == lite.ReadOnlyDB || code(err) == lite.CantOpen {
		return s.connectForReading(ctx)
	}
	return nil, err
}

// prepareFile turns on the write-ahead log and migrates.
func (s *Store) prepareFile(ctx context.Context, c *lite.Conn) error {
	if err := c.Exec(s.writerPragmas()); err != nil {
		return err
	}
	// First of all: the file of another program is left as it is.
	if _, err := (schema{s, c}).Version(ctx); err != nil {
		return newerSchema(err)
	}
	if err := s.logAhead(ctx, c); err != nil {
		return err
	}
	free, err := s.migrateAlone(ctx, c)
	if err != nil {
		return err
	}
	err = s.migrate(ctx, c)
	free()
	if err != nil || s.config.Synchronous != Full {
		return err
	}
	return c.BufferLog()
}

// logAhead turns on the write-ahead log. While another process is doing the same to a new file SQLite
// answers that it is locked, without waiting as it does otherwise, so the waiting is done here.
func (s *Store) logAhead(ctx context.Context, c *lite.Conn) error {
	deadline := time.Now().Add(s.config.BusyTimeout)
	for rest := time.Millisecond; ; rest = min(2*rest, 50*time.Millisecond) {
		err := c.Exec(`PRAGMA journal_mode = WAL`)
		if code(err) != lite.Busy || time.Now().After(deadline) {
			return err
		}
		if !pause.For(ctx, rest) {
			return ctx.Err()
		}
	}
}

// connectForReading is connectFirst for a file that cannot be written to.
func (s *Store) connectForReading(ctx context.Context) (*lite.Conn, error) {
	s.mode = lite.ReadOnly
	c, err := s.tryReading(ctx)
	if code(err) != lite.CantOpen && code(err) != lite.ReadOnlyDB {
		return c, err
	}
	// Even to read a log SQLite needs a file beside it. Without a log, on a medium that nobody can
	// write to, the file alone is enough.
	if s.logIsLeft() {
		return nil, err
	}
	s.mode = lite.Immutable
	return s.tryReading(ctx)
}

func (s *Store) tryReading(ctx context.Context) (*lite.Conn, error) {
	c, err := s.connectReader()
	if err != nil {
		return nil, s.explain(err)
	}
	if err := s.checkSchema(ctx, c); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (s *Store) writerPragmas() string {
	return fmt.Sprintf(`PRAGMA page_size = %d; PRAGMA synchronous = %s; PRAGMA temp_store = memory;
		PRAGMA cache_size = -16384; PRAGMA journal_size_limit = %d; PRAGMA cell_size_check = on;
		PRAGMA trusted_schema = off; PRAGMA secure_delete = fast`, pageSize, s.config.Synchronous, tooLong)
}

// pageSize is that of new files; one that is there keeps its own. Items and replies have a few KB: on pages of 4 KB each would
// have one for itself, or several and a list of them.
const pageSize = 8 << 10

func pageSizeOf(c *lite.Conn) (int, error) {
	q := c.Prepare(`PRAGMA page_size`)
	defer q.Close()
	if _, err := q.Step(); err != nil {
		return 0, err
	}
	return int(q.ReadInt()), nil
}

// connectReader opens a connection for the pool.
func (s *Store) connectReader() (*lite.Conn, error) {
	return s.connect(s.mode, `PRAGMA query_only = on; PRAGMA temp_store = memory; PRAGMA cell_size_check = on;
		PRAGMA trusted_schema = off`)
}

func (s *Store) connect(mode lite.Mode, pragmas string) (*lite.Conn, error) {
	// SQLite would make the file anew, or open another.
	if err := s.files.check(); err != nil {
		return nil, err
	}
	c, err := s.openFile(mode)
	if err != nil {
		return nil, err
	}
	if err := c.Exec(pragmas); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (s *Store) openFile(mode lite.Mode) (*lite.Conn, error) {
	c, err := lite.Open(s.path, mode)
	if err == nil {
		c.Share(&s.health)
		c.BusyTimeout(int(s.config.BusyTimeout.Milliseconds()))
	}
	return c, err
}

// explain says why a file cannot be opened, where SQLite only says that it cannot.
func (s *Store) explain(err error) error {
	if code(err) != lite.CantOpen {
		return err
	}
	folder := filepath.Dir(s.path)
	if _, statErr := os.Stat(folder); errors.Is(statErr, fs.ErrNotExist) {
		return fmt.Errorf("the folder %s does not exist; make it first: %w", folder, fs.ErrNotExist)
	}
	info, statErr := os.Stat(s.path)
	switch {
	case statErr == nil && info.IsDir():
		return errors.New("it is a folder; name a file in it")
	case errors.Is(statErr, fs.ErrPermission), statErr == nil:
		return fmt.Errorf("allow this user to read and write it: %w", fs.ErrPermission)
	case errors.Is(statErr, fs.ErrNotExist):
		return fmt.Errorf("allow this user to make files in %s: %w", folder, fs.ErrPermission)
	}
	return err
}
