package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/store"
)

// Store is a [store.Store] on a PostgreSQL database. It is safe for concurrent use.
type Store struct {
	config  Config
	address string // where the database is, without its password
	pool    *pool
	index   *indexer
	running sync.WaitGroup
	stored  atomic.Int64 // follow-up contexts
	// publishing holds an element for each Publish: all of them leave a connection to Send.
	publishing chan struct{}

	// mu guards what follows.
	mu       sync.Mutex
	closed   bool
	outboxed segmentKey // the session behind which the next Publish looks for some
}

var _ store.Store = (*Store)(nil)

// Open connects to the database that a postgres:// URL names and brings its schema up to date. Any
// number of processes may open the same database, also a new one at the same time. A search_path in
// the URL says in which schema the tables are.
//
// Errors, none of which holds the password: store.ErrUnavailable where the server cannot be reached,
// *[store.NewerSchemaError] where a newer program wrote the data, and sentences for a refused user, a
// missing database and a URL that cannot be read.
func Open(ctx context.Context, url string, config Config) (*Store, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("open PostgreSQL store: %w", err)
	}
	settings, err := parseURL(url, config)
	if err != nil {
		return nil, fmt.Errorf("open PostgreSQL store: %w", err)
	}
	s := &Store{config: config, address: address(settings), pool: newPool(ctx, settings, config.MaxConns)}
	s.publishing = make(chan struct{}, max(1, config.MaxConns-1))
	if err := s.prepare(ctx); err != nil {
		s.pool.close()
		return nil, fmt.Errorf("open PostgreSQL store: %w", err)
	}
	s.index = startIndexer(ctx, s)
	return s, nil
}

// prepare makes the first connection and the schema.
func (s *Store) prepare(ctx context.Context) error {
	c, err := s.pool.acquire(ctx)
	if err == nil {
		defer s.pool.release(c)
		if encoding := c.PgConn().ParameterStatus("server_encoding"); encoding != "UTF8" {
			return fmt.Errorf("%s has the encoding %s; create it with the encoding UTF8", s.address, encoding)
		}
		err = migrate(ctx, c.Conn)
	}
	var newer *store.NewerSchemaError
	switch cancelled := ctx.Err(); {
	case err == nil || errors.As(err, &newer):
		return err
	case cancelled != nil:
		return cancelled
	case lost(err, c == nil || c.IsClosed()):
		return unavailable(s.address, err)
	}
	return explain(s.address, err)
}

// enter counts a call that uses the database, until running.Done.
func (s *Store) enter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return store.ErrClosed
	}
	s.running.Add(1)
	return nil
}

// Light implements [store.Store].
func (s *Store) Light() dialogue.LightStore { return light{s} }

// Generation implements [store.Store]. Other processes write to the database unnoticed.
func (s *Store) Generation() (uint64, bool) { return 0, false }

// Close implements [store.Store]. Closing again changes nothing.
func (s *Store) Close() error {
	s.mu.Lock()
	closed := s.closed
	s.closed = true
	s.mu.Unlock()
	if closed {
		return nil
	}
	s.running.Wait()
	s.index.close()
	s.pool.close()
	return nil
}
