package sqlite

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// Store is a [store.Store] in one SQLite file. It is safe for concurrent use. Other processes may
// use the file at the same time.
type Store struct {
	path    string
	mode    lite.Mode
	config  Config
	light   *dialogue.Light
	readers *pool
	writer  *writer // nil if the file cannot be written to
	text    *indexer
	relay   *publisher
	// presence is what others know of this process.
	presence presence
	files    files
	// health is what all connections know of the disk.
	health lite.Health
	// generation counts how often it was noticed that somebody else wrote, or that it is not known what this store did.
	generation atomic.Uint64

	stopWork   context.CancelFunc // ends what runs in the background
	background sync.WaitGroup
	closing    sync.Once
	closeErr   error
}

var _ store.Store = (*Store)(nil)

// View implements [store.Store]. It never waits for an update, except for one that it saw before that is durable.
func (s *Store) View(ctx context.Context, fn func(store.Tx) error) error {
	return s.view(ctx, func(t *tx) error { return fn(t) })
}

func (s *Store) view(ctx context.Context, fn func(*tx) error) error {
	began := false
	err := s.read(ctx, func(t *tx) error {
		began = true
		return fn(t)
	})
	if !began || s.writer == nil {
		return err
	}
	// What fn made of what it saw may be an error as well.
	return cmp.Or(s.writer.settled(ctx), err)
}

func (s *Store) read(ctx context.Context, fn func(*tx) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	c, err := s.readers.take(ctx)
	if err != nil {
		return s.translate(err)
	}
	t := &tx{s: s, c: c, ctx: ctx, now: s.now()}
	c.Watch(ctx)
	// Deferred, so that a panic of fn does not keep the connection.
	defer func() {
		t.ended = true
		c.Unwatch()
		if c.InTransaction() {
			if endErr := c.Prepare(`COMMIT`).Run(); endErr != nil && err == nil {
				err = s.translate(endErr)
			}
		}
		s.readers.give(c)
	}()
	if err := c.Prepare(`BEGIN`).Run(); err != nil {
		return t.fail(err)
	}
	return fn(t)
}

// Update implements [store.Store].
func (s *Store) Update(ctx context.Context, fn func(store.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.writer == nil {
		return s.refuse()
	}
	return s.writer.do(ctx, fn)
}

// refuse is the answer to an update of a file that cannot be written to.
func (s *Store) refuse() error {
	if s.readers.isClosed() {
		return store.ErrClosed
	}
	return s.translate(&lite.Error{Code: lite.ReadOnlyDB, Message: "the file was opened for reading"})
}

func (s *Store) now() time.Time { return s.config.Clock().UTC().Truncate(time.Microsecond) }

// Light implements [store.Store]. It lives in memory and ends with the store.
func (s *Store) Light() dialogue.LightStore { return s.light }

// Generation implements [store.Store].
func (s *Store) Generation() (uint64, bool) { return s.generation.Load(), s.writer != nil }

// Close implements [store.Store]. Closing again changes nothing.
func (s *Store) Close() error {
	s.closing.Do(func() { s.closeErr = s.close() })
	return s.closeErr
}

func (s *Store) close() error {
	s.stopWork()
	s.background.Wait()
	if s.writer == nil {
		return s.readers.close()
	}
	s.writer.drain()
	// The writer's connection goes last: closing the last one copies the log into the file and
	// removes it.
	err := s.readers.close()
	return s.translate(errors.Join(err, s.writer.c.Close(), s.presence.leave()))
}
